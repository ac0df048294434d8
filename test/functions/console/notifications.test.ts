import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { DAY, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { listNotifications } from '#shared/messaging/inbox/list.ts'
import { loadInbox, loadUnreadCount } from '#shared/messaging/inbox/read-state.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf, notify } from './notifications-support.ts'

const platform = usingPlatform()

const someone = async (workspaceId: string) => {
  const { user, token } = await member(platform.deps, workspaceId, 'member')
  return { user, ...consoleOf(platform, token) }
}

let workspaceId: string
let ann: Awaited<ReturnType<typeof someone>>
let bob: Awaited<ReturnType<typeof someone>>
beforeEach(async () => {
  platform.clock.advance(MINUTE)
  workspaceId = (await workspace(platform.deps)).id
  ann = await someone(workspaceId)
  bob = await someone(workspaceId)
  platform.clock.advance(MINUTE)
})

const ids = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id)
const settle = async () => {
  await platform.drain()
  platform.clock.advance(10 * SECOND)
}
const unread = async (one: typeof ann) => (await one.read('/updates')).unread_notifications as number

describe('a person’s notifications', () => {
  it('are their own and those to everyone, newest first, in pages', async () => {
    const expected: string[] = []
    for (let i = 0; i < 7; i++) {
      await notify(platform, workspaceId, { user_id: bob.user.id })
      expected.unshift((await notify(platform, workspaceId, i % 3 === 0 ? {} : { user_id: ann.user.id })).id)
    }
    await notify(platform, (await workspace(platform.deps)).id)
    const all = await ann.read('/notifications')
    expect(ids(all)).toEqual(expected)
    expect(all).toMatchObject({ has_more: false, unread: 7 })
    expect(all.items.map(({ to }: { to: string }) => to)).toContain('everybody')
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { items: { id: string }[]; next_cursor: string | null } = await ann.read(
        `/notifications?limit=2${cursor && `&cursor=${cursor}`}`,
      )
      paged.push(...ids(page))
      cursor = page.next_cursor
    }
    expect(paged).toEqual(expected)
  })

  it('are read per person, including those to everyone', async () => {
    const one = await notify(platform, workspaceId)
    const two = await notify(platform, workspaceId)
    expect(await ann.mark({ ids: [one.id] })).toEqual({ unread: 1 })
    expect((await ann.read('/notifications')).items.map(({ read }: { read: boolean }) => read)).toEqual([false, true])
    expect(ids(await ann.read('/notifications?unread=true'))).toEqual([two.id])
    expect(await bob.read('/notifications')).toMatchObject({ unread: 2, items: [{ read: false }, { read: false }] })
  })

  it('can be marked as read up to the newest one seen, and later ones stay unread', async () => {
    const seen = await notify(platform, workspaceId)
    const later = await notify(platform, workspaceId, { user_id: ann.user.id })
    expect(await ann.mark({ all: true, until: seen.id })).toEqual({ unread: 1 })
    expect(ids(await ann.read('/notifications?unread=true'))).toEqual([later.id])
    expect(await ann.mark({ all: true })).toEqual({ unread: 0 })
    expect(await ann.mark({ all: true, until: seen.id })).toEqual({ unread: 0 })
    await notify(platform, workspaceId)
    expect(await ann.read('/notifications')).toMatchObject({ unread: 1 })
  })

  it('ignore unknown, malformed and other people’s ids to mark, but not as the upper bound', async () => {
    const own = await notify(platform, workspaceId)
    const others = await notify(platform, workspaceId, { user_id: bob.user.id })
    const unknown = newId('notification', platform.clock.now() + DAY)
    expect(await ann.mark({ ids: [others.id, unknown, 'x#y', own.id] })).toEqual({ unread: 0 })
    for (const until of [others.id, unknown, 'ntf_zzz']) {
      const { status, body } = await ann.call('POST', '/notifications/read', { all: true, until })
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
    await notify(platform, workspaceId)
    expect(await ann.read('/notifications')).toMatchObject({ unread: 1 })
  })

  it('stay read individually above an unread one, even when there are many', async () => {
    const oldest = await notify(platform, workspaceId)
    const read: string[] = []
    for (let i = 0; i < 12; i++) read.push((await notify(platform, workspaceId)).id)
    platform.clock.advance(MINUTE)
    for (const id of read.toReversed()) await ann.mark({ ids: [id] })
    expect(ids(await ann.read('/notifications?unread=true'))).toEqual([oldest.id])
    expect(await ann.mark({ ids: [oldest.id] })).toEqual({ unread: 0 })
    expect(await unread(ann)).toBe(0)
  })

  it('are all read when several pages mark them concurrently', async () => {
    const made = []
    for (let i = 0; i < 6; i++) made.push((await notify(platform, workspaceId)).id)
    const answers = await Promise.all(made.map((id) => ann.call('POST', '/notifications/read', { ids: [id] })))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(await ann.read('/notifications')).toMatchObject({ unread: 0 })
  })

  it('from before a person joined are read', async () => {
    await notify(platform, workspaceId)
    platform.clock.advance(SECOND)
    const comer = await someone(workspaceId)
    expect(await comer.read('/notifications')).toMatchObject({ unread: 0, items: [{ read: true }] })
    platform.clock.advance(SECOND)
    await notify(platform, workspaceId)
    expect(await comer.read('/notifications')).toMatchObject({ unread: 1 })
  })

  it('expire after 90 days', async () => {
    await notify(platform, workspaceId)
    platform.clock.advance(91 * DAY)
    const { token } = await member(platform.deps, workspaceId, 'member')
    expect((await consoleOf(platform, token).read('/notifications')).items).toEqual([])
  })
})

describe('the count of unread notifications', () => {
  it('is maintained on new and read ones, and shown up to 100', async () => {
    expect(await unread(ann)).toBe(0)
    await notify(platform, workspaceId)
    await settle()
    expect([await unread(ann), await unread(ann)]).toEqual([1, 1])
    await ann.mark({ all: true })
    expect([await unread(ann), await unread(bob)]).toEqual([0, 1])
    for (let i = 0; i < 105; i++) await notify(platform, workspaceId)
    await settle()
    expect(await unread(bob)).toBe(100)
  })

  it('is loaded without reading notifications, however many there are, while a page reads its own', async () => {
    for (let i = 0; i < 60; i++) {
      await notify(platform, workspaceId)
      await notify(platform, workspaceId, { user_id: ann.user.id })
    }
    await settle()
    const reading = vi.spyOn(platform.deps.table, 'load')
    const read = () => reading.mock.calls.flatMap(([, keys]) => keys).length
    try {
      expect([await unread(ann), read()]).toEqual([100, 0])
      const page = await ann.read('/notifications?limit=5')
      expect([page.unread, page.has_more, page.items.length, read()]).toEqual([100, true, 5, 5])
    } finally {
      reading.mockRestore()
    }
  })

  it('omits expired ones, even while the store still has them', async () => {
    for (let i = 0; i < 3; i++) await notify(platform, workspaceId)
    platform.clock.advance(45 * DAY)
    await notify(platform, workspaceId)
    platform.clock.advance(46 * DAY)
    const { deps } = platform
    const commit = deps.table.transact.bind(deps.table)
    const joined = await deps.table.get(MemberEntity, { workspace_id: workspaceId, user_id: ann.user.id })
    if (!joined) throw new Error('no member')
    expect((await listNotifications(deps, joined, { limit: 10 })).items).toHaveLength(1)
    expect(await loadUnreadCount({ ...deps, commit }, joined, await loadInbox(deps, joined), true)).toBe(1)
  })

  it('is exact while notifications are created and counted concurrently', async () => {
    const counting = Promise.all(Array.from({ length: 10 }, () => unread(ann)))
    const made = await Promise.all(Array.from({ length: 20 }, () => notify(platform, workspaceId)))
    await counting
    await settle()
    await Promise.all(Array.from({ length: 5 }, () => unread(ann)))
    expect(await unread(ann)).toBe(20)
    await ann.mark({ ids: made.slice(0, 5).map(({ id }) => id) })
    expect(await unread(ann)).toBe(15)
  })
})

describe('notification preferences', () => {
  it('are per person and workspace, and enable everything by default', async () => {
    const none = { muted: false, off: [], muted_until: null, can_be_written_to: false }
    expect((await ann.read('/notifications/preferences')).messaging_app).toEqual(none)
    const until = '2099-01-01T10:00:00.000+00:00'
    const { status, body } = await ann.call('PUT', '/notifications/preferences', {
      messaging_app: { off: ['agent.notice', 'agent.notice'], muted_until: until },
    })
    expect([status, body.messaging_app]).toEqual([200, { ...none, off: ['agent.notice'], muted_until: until }])
    expect(await ann.read('/notifications/preferences')).toEqual(body)
    expect((await bob.read('/notifications/preferences')).messaging_app).toEqual(none)
  })

  it('accept only known kinds and times', async () => {
    for (const messaging_app of [
      { off: ['surely.not'] },
      { muted_until: 'tomorrow' },
      { muted: 'yes' },
      { loud: true },
    ]) {
      expect((await ann.call('PUT', '/notifications/preferences', { messaging_app })).status).toBe(422)
    }
  })
})
