import { beforeEach, describe, expect, it } from 'vitest'
import { authenticatePerson, HostGrantEntity } from '#shared/access/hosts/index.ts'
import { issueToken, TOKENS } from '#shared/foundation/tokens/tokens.ts'
import { MemberEntity, MembershipEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { signInChallenge, stepUpChallenge } from '#shared/kernel/host-resources.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { hostToken } from '#testkit/hosts.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
let app: Installed
let who: { workspaceId: string; userId: string }
beforeEach(async () => {
  platform.clock.advance(60_000)
  app = await installed(platform.deps)
  who = { workspaceId: app.workspaceId, userId: app.person.user.id }
})

const at = (path: string, token: string) => authenticatePerson(platform.deps, token, path)
const codeAt = (path: string, token: string): Promise<string> =>
  at(path, token).then(
    () => 'accepted',
    (error) => error.code,
  )

describe('a person’s token', () => {
  it('names the person, their role now, the host and what they granted it', async () => {
    const { token, grant } = await hostToken(platform.deps, who, { scopes: ['runs:write', 'chat:read'] })
    const principal = await at('/mcp', token)
    expect(principal.scopes).toEqual(['runs:read', 'runs:write', 'chat:read'])
    expect(principal).toMatchObject({
      person: { id: who.userId },
      member: { workspace_id: who.workspaceId },
      workspace: { id: who.workspaceId },
      grant: { id: grant.id },
      client: { host: 'host.example' },
    })
  })

  it.each([
    ['/mcp', ['/mcp', '/mcp/agents/helper']],
    ['/mcp/agents/helper', ['/mcp/agents/helper']],
    ['/a2a', ['/a2a', '/a2a/agents/ins_1/rpc']],
  ])('for %s works there and below, and nowhere else', async (resource, opens) => {
    const { token } = await hostToken(platform.deps, who, { resource })
    const paths = ['/mcp', '/mcp/agents/helper', '/mcp/agents/other', '/a2a', '/a2a/agents/ins_1/rpc', '/api/v1', '/']
    const accepted = []
    for (const path of paths) if ((await codeAt(path, token)) === 'accepted') accepted.push(path)
    expect(accepted).toEqual(resource === '/mcp' ? [...opens, '/mcp/agents/other'] : opens)
  })

  it('opens no other API, and no other token opens a host’s resource', async () => {
    const { token } = await hostToken(platform.deps, who)
    for (const path of ['/api/v1/me', '/console/me', '/admin/me']) {
      expect((await platform.call('GET', path, { token })).status, path).toBe(401)
    }
    const callback = await issueToken(platform.deps, 'callback', {
      ins: app.installation.id,
      ws: who.workspaceId,
      app: app.app.id,
      run: 'run_1',
      sv: 1,
    })
    for (const other of [app.token, app.person.token, callback.token]) {
      expect(await codeAt('/mcp', other)).toBe('unauthorized')
    }
  })

  it('lasts an hour', async () => {
    const { token } = await hostToken(platform.deps, who)
    platform.clock.advance(HOUR - 1_000)
    expect(await codeAt('/mcp', token)).toBe('accepted')
    platform.clock.advance(1_000)
    expect(await codeAt('/mcp', token)).toBe('unauthorized')
    expect(TOKENS.person.life).toBe(HOUR)
  })

  it('has what the workspace hasn’t banned: a ban of reading ends writing, too', async () => {
    const { token } = await hostToken(platform.deps, who, { scopes: ['runs:write', 'tasks:write', 'chat:read'] })
    const ban = (denied_scopes: string[]) =>
      platform.deps.table.transact([WorkspaceEntity.update({ id: who.workspaceId }, { set: { denied_scopes } })])
    await ban(['tasks:write', 'chat:read'])
    expect((await at('/mcp', token)).scopes).toEqual(['runs:read', 'runs:write', 'tasks:read'])
    await ban(['runs:read'])
    expect((await at('/mcp', token)).scopes).toEqual(['chat:read', 'tasks:read', 'tasks:write'])
  })

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'the person leaves the workspace',
      () => platform.deps.table.transact([MemberEntity.delete({ workspace_id: who.workspaceId, user_id: who.userId })]),
      'unauthorized',
    ],
    [
      'the person is blocked',
      () => platform.deps.table.transact([UserEntity.update({ id: who.userId }, { set: { status: 'blocked' } })]),
      'unauthorized',
    ],
    [
      'the workspace is suspended',
      () =>
        platform.deps.table.transact([
          WorkspaceEntity.update({ id: who.workspaceId }, { set: { status: 'suspended' } }),
        ]),
      'installation_suspended',
    ],
  ])('ends at once when %s', async (_when, change, code) => {
    const { token } = await hostToken(platform.deps, who)
    expect(await codeAt('/mcp', token)).toBe('accepted')
    await change()
    expect(await codeAt('/mcp', token)).toBe(code)
  })

  it('ends at once with its grant', async () => {
    const { token, grant } = await hostToken(platform.deps, who)
    await platform.deps.table.transact([HostGrantEntity.update(grant, { set: { status: 'revoked' }, list: null })])
    expect(await codeAt('/mcp', token)).toBe('unauthorized')
  })

  it('doesn’t come back with a later membership of the same person', async () => {
    const { token } = await hostToken(platform.deps, who)
    const { table, clock } = platform.deps
    const member = await table.get(MemberEntity, { workspace_id: who.workspaceId, user_id: who.userId })
    if (!member) throw new Error('no member')
    await table.transact([MemberEntity.delete(member), MembershipEntity.delete(member)])
    platform.clock.advance(1_000)
    await table.transact([MemberEntity.create({ ...member, joined_at: clock.now() }), MembershipEntity.create(member)])
    expect(await codeAt('/mcp', token)).toBe('unauthorized')
  })

  it('of one person never works with another’s grant', async () => {
    const other = await installed(platform.deps, { workspaceId: app.workspaceId })
    const { grant } = await hostToken(platform.deps, who)
    const claims = { grt: grant.id, ws: who.workspaceId, usr: other.person.user.id }
    const { token } = await issueToken(platform.deps, 'person', claims)
    expect(await codeAt('/mcp', token)).toBe('unauthorized')
  })
})

describe('the challenges of a host’s resource', () => {
  const settings = { baseUrl: 'https://platform.test' }
  const resource_metadata = 'https://platform.test/.well-known/oauth-protected-resource/mcp/agents/helper'

  it('lead to the resource’s document, and say that a token was invalid only if there was one', () => {
    const scope = 'workspace:read agents:read runs:read runs:write tasks:read tasks:write chat:read files:read'
    const parts = { resource_metadata, scope }
    expect(signInChallenge(settings, '/mcp/agents/helper', false)).toEqual(parts)
    expect(signInChallenge(settings, '/mcp/agents/helper', true)).toEqual({ error: 'invalid_token', ...parts })
  })

  it('name every scope that a call needs, so that a host can ask for them in a new consent', () => {
    const parts = stepUpChallenge(settings, '/mcp/agents/helper', ['runs:read', 'chat:write'])
    expect(parts).toEqual({ error: 'insufficient_scope', scope: 'runs:read chat:write', resource_metadata })
  })
})
