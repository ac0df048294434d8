import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, SessionEntity } from '#shared/identity/people/entity.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const HOUR = 3_600_000
beforeEach(() => platform.clock.advance(60_000))

let people = 0
const newPerson = () => `visitor-${++people}`

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'

const signIn = async (user: string, userAgent = FIREFOX) => {
  platform.clock.advance(1_000)
  const headers = { 'user-agent': userAgent }
  const { body } = await platform.call('POST', '/console/session', { body: { user }, headers })
  return body as { token: string; user: { id: string }; workspace: { id: string } }
}
const list = async ({ token }: { token: string }) =>
  (await platform.call('GET', '/console/sessions', { token })).body.items
const status = async ({ token }: { token: string }) => (await platform.call('GET', '/console/me', { token })).status
const end = ({ token }: { token: string }, id: string) => platform.call('DELETE', `/console/sessions/${id}`, { token })
const endOthers = ({ token }: { token: string }) => platform.call('DELETE', '/console/sessions', { token })

describe('GET /console/sessions', () => {
  it('lists the person’s own with browser, system and address, newest first, without the header itself', async () => {
    const user = newPerson()
    const first = await signIn(user)
    const second = await signIn(user, IPHONE)
    await signIn(newPerson())
    const items = await list(first)
    expect(items).toEqual([
      expect.objectContaining({ current: false, browser: 'Safari', system: 'iPhone', via: 'provisioned' }),
      expect.objectContaining({ current: true, browser: 'Firefox', system: 'Linux', address: expect.any(String) }),
    ])
    expect((await list(second)).map(({ current }: { current: boolean }) => current)).toEqual([true, false])
    expect(JSON.stringify(items)).not.toContain('Mozilla')
    const stored = await platform.deps.table.get(SessionEntity, { id: items[1].id })
    expect(JSON.stringify(stored)).not.toContain('Mozilla')
  })

  it('shows an unknown client as unknown, whatever its header says', async () => {
    const odd = await signIn(newPerson(), `${'<script>'.repeat(500)}`)
    expect((await list(odd))[0]).toMatchObject({ browser: null, system: null })
  })

  it('leaves out sessions that have expired', async () => {
    const user = newPerson()
    await signIn(user)
    platform.clock.advance(12 * HOUR)
    expect(await list(await signIn(user))).toHaveLength(1)
  })
})

describe('signing out', () => {
  it('one session refuses its next request, and no other one’s', async () => {
    const user = newPerson()
    const [here, there, third] = [await signIn(user), await signIn(user), await signIn(user)]
    const [, { id }] = await list(here)
    expect((await end(here, id)).status).toBe(204)
    expect(await Promise.all([here, there, third].map(status))).toEqual([200, 401, 200])
    expect((await end(here, id)).status, 'a second time').toBe(404)
  })

  it('all others refuses theirs and keeps this one, also for sessions that no list shows', async () => {
    const user = newPerson()
    const [here, there, unlisted] = [await signIn(user), await signIn(user), await signIn(user)]
    const [{ id }] = await list(unlisted)
    await platform.deps.table.transact([SessionEntity.update({ id }, { set: {}, list: null })])
    expect((await endOthers(here)).status).toBe(204)
    expect(await Promise.all([here, there, unlisted].map(status))).toEqual([200, 401, 401])
    expect(await list(here)).toHaveLength(1)
    expect(await status(await signIn(user)), 'a later sign-in').toBe(200)
  })

  it('can’t end, or find, the session of another person', async () => {
    const mine = await signIn(newPerson())
    const theirs = await signIn(newPerson())
    const [{ id }] = await list(theirs)
    expect((await end(mine, id)).status).toBe(404)
    await endOthers(mine)
    expect(await status(theirs)).toBe(200)
  })

  it('ends in the same way from two devices at once: one of them stays', async () => {
    const user = newPerson()
    const [one, other] = [await signIn(user), await signIn(user)]
    await Promise.all([endOthers(one), endOthers(other)])
    const left = await Promise.all([one, other].map(status))
    expect(left.sort()).toEqual([200, 401])
  })
})

describe('the last use', () => {
  const memberOf = ({ workspace, user }: Awaited<ReturnType<typeof signIn>>) =>
    platform.deps.table.get(MemberEntity, { workspace_id: workspace.id, user_id: user.id })

  it('is written at most once an hour, however many requests there are, and is the member’s last activity', async () => {
    const user = newPerson()
    const here = await signIn(user)
    const signedInAt = platform.clock.now()
    for (let n = 0; n < 5; n++) {
      platform.clock.advance(10 * 60_000)
      await status(here)
    }
    const [session] = await list(here)
    expect(Date.parse(session.last_used_at)).toBe(signedInAt)
    expect((await memberOf(here))?.active_at).toBe(signedInAt)
    platform.clock.advance(HOUR)
    const usedAt = platform.clock.now()
    await Promise.all(Array.from({ length: 5 }, () => status(here)))
    platform.clock.advance(30 * 60_000)
    await status(here)
    expect(Date.parse((await list(here))[0].last_used_at)).toBe(usedAt)
    const { body } = await platform.call('GET', '/console/members', { token: here.token })
    expect(Date.parse(body.items[0].last_active_at)).toBe(usedAt)
  })

  it('doesn’t fail the request if it can’t be recorded', async () => {
    const here = await signIn(newPerson())
    platform.clock.advance(2 * HOUR)
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    table.transact = async (writes, ...rest) => {
      if (writes.some(({ key }) => key.pk.startsWith('SES#'))) throw new Error('the store is busy')
      return transact(writes, ...rest)
    }
    try {
      expect(await status(here)).toBe(200)
    } finally {
      table.transact = transact
    }
  })
})
