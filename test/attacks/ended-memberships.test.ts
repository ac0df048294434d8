import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, MembershipEntity, type Role, SessionEntity } from '#shared/identity/people/entity.ts'
import { pushUpdates, receiveMessage } from '#shared/insight/live/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { callbackToken, installed, member, sessionOf, tokenOf, workspace } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()
beforeEach(async () => {
  platform.clock.advance(60_000)
  await platform.drain()
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
})

type Someone = Awaited<ReturnType<typeof member>>

/** A workspace with an app and its owner, and ways to let people in and out. */
const scene = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { workspaceId: workspace_id, person: owner } = app
  const join = (role: Role) => member(platform.deps, workspace_id, role)
  const as = (person: { token: string }, method: string, path: string, body?: object) => {
    platform.clock.advance(1_000)
    return platform.call(method, path, { token: person.token, body })
  }
  const leave = ({ user }: Someone) => succeeded(as(owner, 'DELETE', `/console/members/${user.id}`))
  /** Lets somebody in again, as another invitation would. @returns them with a new session */
  const rejoin = async (person: Someone, role: Role): Promise<Someone> => {
    const { user } = person
    platform.clock.advance(1_000)
    const at = { workspace_id, user_id: user.id }
    const joined = { ...at, name: user.name, role, joined_at: platform.clock.now() }
    const session = sessionOf(platform.deps, user.id, workspace_id)
    await platform.deps.table.transact([
      MemberEntity.create(joined),
      MembershipEntity.replace(at),
      SessionEntity.create(session),
    ])
    return { user, session, token: await tokenOf(platform.deps, session, joined) }
  }
  const leaveAndRejoin = async (person: Someone, role: Role) => {
    await leave(person)
    return rejoin(person, role)
  }
  const rules = (...list: object[]) =>
    succeeded(
      as(owner, 'PUT', '/console/settings/approvals', { rules: list.map((rule) => ({ name: 'Rule', ...rule })) }),
    )
  const ask = async () => {
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.drain()
    const token = await callbackToken(platform.deps, app, run.id)
    const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token,
      body: { arguments: { url: page.url, method: 'POST' } },
    })
    const path = `/console/runs/${run.id}/steps/${body.step_id}`
    const decide = (person: Someone) => as(person, 'POST', `${path}/decision`, { decision: 'approve' })
    const ruling = async (person: Someone) => (await as(person, 'GET', `${path}/approval`)).body.rule
    return { decide, ruling }
  }
  return { app, owner, join, as, leave, rejoin, leaveAndRejoin, rules, ask }
}

const OWNERS = { approvers: { role: 'owner' } }
const until = () => new Date(platform.clock.now() + 8 * HOUR).toISOString()

describe('a person who left a workspace and joined it again', () => {
  it('doesn’t get in with the sessions that they had before', async () => {
    const { join, as, leaveAndRejoin } = await scene()
    const bo = await join('owner')
    expect((await as(bo, 'GET', '/console/me')).status).toBe(200)
    const back = await leaveAndRejoin(bo, 'member')
    expectRefusal(await as(bo, 'GET', '/console/me'), 'the old token', 'unauthorized')
    expect((await as(back, 'GET', '/console/me')).status).toBe(200)
  })

  it('doesn’t get in with a token that switching workspaces gave them before', async () => {
    const { app, join, as, leaveAndRejoin } = await scene()
    const bo = await join('member')
    const elsewhere = (await workspace(platform.deps)).id
    const there = { workspace_id: elsewhere, user_id: bo.user.id }
    const since = platform.clock.now()
    await platform.deps.table.transact([
      MemberEntity.create({ ...there, name: bo.user.name, role: 'member', joined_at: since }),
      MembershipEntity.create(there),
    ])
    const switching = (from: { token: string }, workspace_id: string) =>
      succeeded(as(from, 'POST', '/console/session/workspace', { workspace_id })) as Promise<{ token: string }>
    const other = await switching(bo, elsewhere)
    const switched = await switching(other, app.workspaceId)
    await leaveAndRejoin(bo, 'member')
    expectRefusal(await as(switched, 'GET', '/console/me'), 'the switched token', 'unauthorized')
    // They are still signed in elsewhere, and may come from there.
    expect((await as(other, 'GET', '/console/me')).status).toBe(200)
    const again = await switching(other, app.workspaceId)
    expect((await as(again, 'GET', '/console/me')).status).toBe(200)
  })

  it('doesn’t see an agent’s page with a surface token from before', async () => {
    const { app, join, as, leaveAndRejoin } = await scene()
    const bo = await join('member')
    const path = `/console/installations/${app.installation.id}/surface-token`
    const surface = await succeeded(as(bo, 'POST', path))
    expect((await as(surface, 'GET', '/api/v1/me')).status).toBe(200)
    const back = await leaveAndRejoin(bo, 'member')
    expectRefusal(await as(surface, 'GET', '/api/v1/me'), 'the old token', 'unauthorized')
    expect((await as(await succeeded(as(back, 'POST', path)), 'GET', '/api/v1/me')).status).toBe(200)
  })

  it('doesn’t hear of changes on a page that was open before', async () => {
    const { app, join, leaveAndRejoin } = await scene()
    const bo = await join('member')
    const sent: string[] = []
    const closed: string[] = []
    const { sockets } = platform.deps
    platform.deps.sockets = {
      ...sockets,
      send: async (_id, text) => {
        sent.push(JSON.parse(text).type)
        return 'sent'
      },
      close: async (id) => {
        closed.push(id)
      },
    }
    try {
      await receiveMessage(platform.deps, 'page-1', JSON.stringify({ type: 'hello', token: bo.token }))
      expect(sent).toEqual(['updates'])
      // The wake-up by which the removal closes the page was lost.
      await leaveAndRejoin(bo, 'member')
      await pushUpdates(platform.deps, app.workspaceId, undefined)
      expect(sent).toEqual(['updates', 'end'])
      expect(closed).toEqual(['page-1'])
    } finally {
      platform.deps.sockets = sockets
    }
  })

  it('isn’t the delegate of somebody who is away', async () => {
    const { owner, join, as, leaveAndRejoin, rules, ask } = await scene()
    await rules(OWNERS)
    const bo = await join('member')
    await succeeded(as(owner, 'PUT', '/console/me/away', { delegate_id: bo.user.id, until: until() }))
    const call = await ask()
    expect(await call.ruling(bo)).toMatchObject({ you_may_approve: true })
    const back = await leaveAndRejoin(bo, 'member')
    expect(await call.ruling(back)).toMatchObject({ you_may_approve: false })
    expectRefusal(await call.decide(back), 'an approval', 'forbidden')
    expect((await as(back, 'GET', '/console/me/away')).body.for).toEqual([])
    expect((await as(owner, 'GET', '/console/me/away')).body.away).toBeNull()
  })

  it('isn’t named in the rules for approvals until an owner names them again', async () => {
    const { join, leaveAndRejoin, rules, ask } = await scene()
    const bo = await join('member')
    const rule = { approvers: { role: 'owner', user_ids: [bo.user.id] } }
    await rules(rule)
    const call = await ask()
    expect(await call.ruling(bo)).toMatchObject({ you_may_approve: true })
    const back = await leaveAndRejoin(bo, 'member')
    expect((await call.ruling(back)).approvers).toBe('an owner or a former member')
    expectRefusal(await call.decide(back), 'an approval', 'forbidden')
    await rules(rule)
    expect((await call.decide(back)).status).toBe(200)
  })

  it('hasn’t approved a call that they approved before, and whose delegate did neither', async () => {
    const { owner, join, as, leaveAndRejoin, rules, ask } = await scene()
    await rules({ approvers: { role: 'admin' }, second_person: { when: 'always' } })
    const [bo, delegate] = [await join('admin'), await join('member')]
    const first = await ask()
    expect((await first.decide(bo)).body.status).toBe('awaiting_approval')
    await succeeded(as(bo, 'PUT', '/console/me/away', { delegate_id: delegate.user.id, until: until() }))
    const back = await leaveAndRejoin(bo, 'admin')
    expect((await first.decide(owner)).body.status).toBe('awaiting_approval')
    expect((await first.ruling(owner)).approved_by).toHaveLength(1)
    expect((await first.decide(back)).body.status).toBe('running')
    await platform.drain()
    // A delegate's approval counts as that of the person whose right it was.
    const second = await ask()
    await succeeded(as(back, 'PUT', '/console/me/away', { delegate_id: delegate.user.id, until: until() }))
    expect((await second.decide(delegate)).body.status).toBe('awaiting_approval')
    const again = await leaveAndRejoin(back, 'admin')
    await succeeded(as(again, 'PUT', '/console/me/away', { delegate_id: delegate.user.id, until: until() }))
    expect((await second.decide(owner)).body.status).toBe('awaiting_approval')
  })
})
