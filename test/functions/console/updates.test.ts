import { beforeEach, describe, expect, it } from 'vitest'
import { getUnits } from '#bench/capacity.ts'
import { UpdatesEntity } from '#shared/foundation/updates/entity.ts'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf, notify, startAwaitingAgent } from './notifications-support.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

let workspaceId: string
let ann: ReturnType<typeof consoleOf>
beforeEach(async () => {
  platform.clock.advance(MINUTE)
  workspaceId = (await workspace(platform.deps)).id
  ann = consoleOf(platform, (await member(platform.deps, workspaceId, 'member')).token)
})

const changedSince = async (version?: string) => {
  const body = await ann.read(`/updates${version === undefined ? '' : `?since=${version}`}`)
  const topics = Object.entries(body.changed).flatMap(([topic, changed]) => (changed ? [topic] : []))
  return { version: body.version as string, topics: topics.sort(), unread: body.unread_notifications as number }
}

describe('updates', () => {
  it('contain the changes since a version, once each', async () => {
    const first = await changedSince()
    expect(first.topics).toEqual([
      'approvals',
      'installations',
      'messages',
      'messenger',
      'notifications',
      'runs',
      'tasks',
    ])
    expect((await changedSince(first.version)).topics).toEqual([])
    const { runId, stepId } = await startAwaitingAgent(platform, agent.url, workspaceId)
    await platform.drain()
    const second = await changedSince(first.version)
    expect(second).toMatchObject({ topics: ['approvals', 'notifications', 'runs'], unread: 1 })
    expect((await changedSince(second.version)).topics).toEqual([])
    await ann.call('POST', `/runs/${runId}/steps/${stepId}/decision`, { decision: 'reject' })
    await platform.drain()
    const third = await changedSince(second.version)
    expect(third.topics).toEqual(['approvals', 'runs'])
    await ann.call('POST', '/tasks', { title: 'Count the stock', description: 'All.' })
    await platform.drain()
    expect((await changedSince(third.version)).topics).toEqual(['tasks'])
  })

  it('report everything to a page that comes back after more than a day, because changes weren’t counted in the meantime', async () => {
    const first = await changedSince()
    const marked = async () => (await platform.deps.table.get(UpdatesEntity, { workspace_id: workspaceId }))?.tasks
    // Sessions end sooner. To others who have read nothing, the numbers are the same.
    const later = async (ms: number) => {
      platform.clock.advance(ms)
      ann = consoleOf(platform, (await member(platform.deps, workspaceId, 'member')).token)
    }
    const add = async () => {
      await ann.call('POST', '/tasks', { title: 'Count the stock', description: 'All.' })
      await platform.drain()
    }
    await later(13 * HOUR)
    await add()
    // This read has changes counted for another day.
    const second = await changedSince(first.version)
    expect(second.topics).toEqual(['tasks'])
    await later(23 * HOUR)
    await add()
    expect(await marked()).toBe(3)
    await later(2 * HOUR)
    await add()
    expect(await marked()).toBe(3)
    const back = await changedSince(second.version)
    expect(back.topics).toEqual(['approvals', 'installations', 'messages', 'messenger', 'runs', 'tasks'])
    expect((await changedSince(back.version)).topics).toEqual([])
    await add()
    expect((await changedSince(back.version)).topics).toEqual(['tasks'])
  })

  it('report to a person’s other pages what they read, and to no one else', async () => {
    const bob = consoleOf(platform, (await member(platform.deps, workspaceId, 'member')).token)
    await notify(platform, workspaceId)
    await platform.drain()
    platform.clock.advance(10 * SECOND)
    const before = await changedSince()
    const { version } = await bob.read('/updates')
    await ann.mark({ all: true })
    expect(await changedSince(before.version)).toMatchObject({ topics: ['notifications'], unread: 0 })
    const { changed, unread_notifications } = await bob.read(`/updates?since=${version}`)
    expect([changed.notifications, unread_notifications]).toEqual([false, 1])
  })

  it('contain nothing of other workspaces', async () => {
    const { version } = await changedSince()
    await startAwaitingAgent(platform, agent.url)
    await platform.drain()
    expect((await changedSince(version)).topics).toEqual([])
  })

  it('treat an unknown version as an old one, and refuse a malformed one', async () => {
    expect((await changedSince('1-2')).topics).toHaveLength(7)
    for (const since of ['', 'x'.repeat(300), '1--2', '<>']) {
      expect((await ann.call('GET', `/updates?since=${encodeURIComponent(since)}`)).status, since).toBe(422)
    }
  })

  it('miss no change under many concurrent ones', async () => {
    const { version } = await changedSince()
    await Promise.all(Array.from({ length: 50 }, () => notify(platform, workspaceId)))
    await platform.drain()
    platform.clock.advance(10 * SECOND)
    const after = await changedSince(version)
    expect(after).toMatchObject({ topics: ['notifications'], unread: 50 })
    expect((await changedSince(after.version)).topics).toEqual([])
  })

  it('cost one batch of three small items in addition to the session, and no write', async () => {
    await notify(platform, workspaceId)
    await platform.drain()
    platform.clock.advance(10 * SECOND)
    const { version } = await changedSince()
    const { table } = platform.deps
    const { get, getAll, query, listed, transact } = table
    const batches: unknown[][] = []
    const others: string[] = []
    const watched = (name: string) => async () => {
      others.push(name)
      throw new Error(`${name} was called`)
    }
    table.getAll = (async (refs: Parameters<typeof getAll>[0]) => {
      const found = await getAll.call(table, refs)
      batches.push(found as unknown[])
      return found
    }) as typeof getAll
    Object.assign(table, {
      query: watched('query'),
      listed: watched('listed'),
      transact: async (writes: Parameters<typeof transact>[0]) => {
        // The caller's rate limit.
        if (writes.some(({ entity }) => entity.name !== 'bucket')) others.push('transact')
        return transact.call(table, writes)
      },
    })
    try {
      await changedSince(version)
    } finally {
      Object.assign(table, { get, getAll, query, listed, transact })
    }
    const [session = [], own = []] = batches
    const units = (items: unknown[]) =>
      items.reduce((sum: number, item) => sum + getUnits(item as Record<string, unknown> | undefined, true), 0)
    console.info(`GET /console/updates: ${units(own)} read units in addition to the session’s ${units(session)}`)
    expect([batches.length, units(own), others]).toEqual([2, 3, []])
  })
})
