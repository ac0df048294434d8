import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { workspace as newWorkspace } from '#testkit/fixtures.ts'
import { startPlatform } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const session = (body: object, on = platform) => on.call('POST', '/console/session', { body })
const me = (token: string) => platform.call('GET', '/console/me', { token })

describe('POST /console/session', () => {
  it('creates person and workspace, and finds them again by the same names', async () => {
    const first = await session({ user: 'ann', workspace: 'acme' })
    expect(first.status).toBe(201)
    expect(first.headers['cache-control']).toBe('no-store')
    expect(first.body).toMatchObject({
      token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 43_200,
      user: {
        id: expect.stringMatching(/^usr_/),
        name: 'ann',
        locale: 'en',
        time_zone: 'UTC',
        time_zone_chosen: false,
      },
      workspace: { id: expect.stringMatching(/^ws_/), name: 'acme', is_sandbox: false, role: 'owner' },
    })
    const again = await session({ user: 'ann', workspace: 'acme' })
    expect([again.body.user.id, again.body.workspace.id]).toEqual([first.body.user.id, first.body.workspace.id])
    expect(again.body.token).not.toBe(first.body.token)
    const other = await session({ user: 'ann', workspace: 'other' })
    expect(other.body.user.id).toBe(first.body.user.id)
    expect(other.body.workspace.id).not.toBe(first.body.workspace.id)
  })

  it('works without a body', async () => {
    const one = await session({})
    expect(one.body.user.name).toBe('local-user')
    expect((await me(one.body.token)).status).toBe(200)
  })

  it('accepts the id of an existing workspace, and no other id', async () => {
    const existing = await newWorkspace(platform.deps)
    const answer = await session({ user: 'ben', workspace: existing.id, role: 'admin' })
    expect(answer.body.workspace).toMatchObject({ id: existing.id, name: existing.name, role: 'admin' })
    const unknown = await session({ user: 'ben', workspace: 'ws_01kae5m1v8w6c3x9q2r7t4y0zn' })
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  })

  it('keeps a role until another one is requested', async () => {
    expect((await session({ user: 'cleo', workspace: 'c', role: 'member' })).body.workspace.role).toBe('member')
    expect((await session({ user: 'cleo', workspace: 'c' })).body.workspace.role).toBe('member')
    const admin = await session({ user: 'cleo', workspace: 'c', role: 'admin' })
    expect((await me(admin.body.token)).body.workspace.role).toBe('admin')
    expect((await session({ user: 'cleo', workspace: 'c', role: 'king' })).body.error.code).toBe('validation_error')
  })

  it('creates one person and one workspace for 20 concurrent requests, and every session works', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => session({ user: 'race', workspace: 'race' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
    expect(new Set(answers.map(({ body }) => `${body.user.id} ${body.workspace.id}`)).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body.token)).size).toBe(20)
    expect((await me(answers[7]?.body.token)).status).toBe(200)
  })

  it('returns the same session for the same Idempotency-Key while it is valid, and a new one afterwards', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const send = () => platform.call('POST', '/console/session', { body: { user: 'kim' }, headers })
    const { token } = (await send()).body
    expect((await send()).body.token).toBe(token)
    await platform.call('DELETE', '/console/session', { token })
    expect((await me((await send()).body.token)).status).toBe(200)
  })

  it('is disabled when the setting is off', async () => {
    const closed = await startPlatform({ CONSOLE_AUTO_PROVISION: 'false' })
    try {
      const answer = await session({ user: 'ann' }, closed)
      expect([answer.status, answer.body.error.code]).toEqual([403, 'console_provisioning_disabled'])
    } finally {
      await closed.stop()
    }
  })
})

describe('a session', () => {
  it('shows the person, the workspace and what is denied there', async () => {
    const { token, user, workspace } = (await session({ user: 'dora', workspace: 'd' })).body
    const bans = { denied_tools: ['http_fetch'], denied_scopes: ['chat:write'] }
    await platform.deps.table.transact([WorkspaceEntity.update({ id: workspace.id }, { set: bans })])
    const { id, name, is_sandbox, role } = workspace
    const workspaces = [{ id, name, is_sandbox, role }]
    expect((await me(token)).body).toEqual({
      user,
      workspace,
      workspaces,
      bans,
      cross_agent_enabled: true,
      is_stand_in: false,
    })
  })

  it('shows every workspace of the person with their role in it, and no one else’s', async () => {
    const first = (await session({ user: 'ida', workspace: 'ida-1' })).body
    const second = (await session({ user: 'ida', workspace: 'ida-2', role: 'member' })).body
    await session({ user: 'joe', workspace: 'joe-1' })
    const { workspaces } = (await me(first.token)).body
    expect(workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]).sort()).toEqual(
      [
        [first.workspace.id, 'owner'],
        [second.workspace.id, 'member'],
      ].sort(),
    )
  })

  it('expires after 12 hours', async () => {
    const { token } = (await session({ user: 'eve' })).body
    platform.clock.advance(12 * 3_600_000 - 1_000)
    expect((await me(token)).status).toBe(200)
    platform.clock.advance(1_000)
    expect((await me(token)).body.error.code).toBe('unauthorized')
  })

  it('ends when signing out, without ending the person’s other sessions', async () => {
    const [one, two] = [(await session({ user: 'fay' })).body, (await session({ user: 'fay' })).body]
    const answer = await platform.call('DELETE', '/console/session', { token: one.token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await me(one.token)).status).toBe(401)
    expect((await platform.call('DELETE', '/console/session', { token: one.token })).status).toBe(401)
    expect((await me(two.token)).status).toBe(200)
  })

  it('ends when the person is blocked, or no longer a member', async () => {
    const gus = (await session({ user: 'gus', workspace: 'g' })).body
    await platform.deps.table.transact([UserEntity.update({ id: gus.user.id }, { set: { status: 'blocked' } })])
    expect((await me(gus.token)).status).toBe(401)
    const hal = (await session({ user: 'hal', workspace: 'h' })).body
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: hal.workspace.id, user_id: hal.user.id })])
    expect((await me(hal.token)).status).toBe(401)
  })
})

describe('POST /console/session/workspace', () => {
  const switchTo = (token: string, workspace_id: string) =>
    platform.call('POST', '/console/session/workspace', { token, body: { workspace_id } })

  /** Signs a person in to two workspaces, the second one last. */
  const inTwo = async (user: string) => {
    const there = (await session({ user, workspace: `${user}-there`, role: 'member' })).body
    const here = (await session({ user, workspace: `${user}-here` })).body
    return { here, there }
  }

  it('switches to another workspace of the person, which becomes their home', async () => {
    const { here, there } = await inTwo('kay')
    const answer = await switchTo(here.token, there.workspace.id)
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 43_200,
      user: here.user,
      workspace: there.workspace,
    })
    expect((await me(answer.body.token)).body.workspace).toEqual(there.workspace)
    const user = await platform.deps.table.get(UserEntity, { id: here.user.id })
    expect(user?.home_workspace_id).toBe(there.workspace.id)
  })

  it('keeps the session: the previous token still works for its workspace, and signing out ends both', async () => {
    const { here, there } = await inTwo('leo')
    const { token } = (await switchTo(here.token, there.workspace.id)).body
    expect((await me(here.token)).body.workspace.id).toBe(here.workspace.id)
    await platform.call('DELETE', '/console/session', { token })
    expect([(await me(here.token)).status, (await me(token)).status]).toEqual([401, 401])
  })

  it('doesn’t extend the session', async () => {
    const { here, there } = await inTwo('mia')
    platform.clock.advance(11 * 3_600_000)
    const { token, expires_in } = (await switchTo(here.token, there.workspace.id)).body
    expect(expires_in).toBe(3_600)
    platform.clock.advance(3_599_000)
    expect((await me(token)).status).toBe(200)
    platform.clock.advance(1_000)
    expect((await me(token)).status).toBe(401)
  })

  it('is not_found for a workspace that the person isn’t in, whether or not it exists', async () => {
    const { here } = await inTwo('ned')
    const foreign = await newWorkspace(platform.deps)
    for (const id of [foreign.id, 'ws_01kae5m1v8w6c3x9q2r7t4y0zn', 'nonsense']) {
      const answer = await switchTo(here.token, id)
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
    }
    expect((await me(here.token)).status).toBe(200)
  })

  it('returns the same token for the same Idempotency-Key, unless the session has ended or is another one', async () => {
    const { here, there } = await inTwo('pia')
    const keyed = (token: string) =>
      platform.call('POST', '/console/session/workspace', {
        token,
        body: { workspace_id: there.workspace.id },
        headers: { 'idempotency-key': 'switch' },
      })
    const first = await keyed(here.token)
    expect((await keyed(here.token)).text).toBe(first.text)
    const other = (await session({ user: 'pia', workspace: 'pia-here' })).body
    const second = await keyed(other.token)
    expect(second.body.token).not.toBe(first.body.token)
    await platform.call('DELETE', '/console/session', { token: here.token })
    expect((await me(second.body.token)).status).toBe(200)
    await platform.deps.table.transact([
      MemberEntity.delete({ workspace_id: there.workspace.id, user_id: here.user.id }),
    ])
    expect((await keyed(other.token)).status).toBe(404)
  })

  it('opens a suspended workspace and shows its status', async () => {
    const { here, there } = await inTwo('oda')
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: there.workspace.id }, { set: { status: 'suspended' } }),
    ])
    const answer = await switchTo(here.token, there.workspace.id)
    expect([answer.status, answer.body.workspace.status]).toEqual([200, 'suspended'])
  })
})
