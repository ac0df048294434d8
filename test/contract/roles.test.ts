import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { issueToken } from '#shared/domain/tokens/tokens.ts'
import { GrantEntity, InstallationEntity } from '#shared/entities/installations.ts'
import { atLeast, MemberEntity, type Role } from '#shared/entities/people.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { newId } from '#shared/kernel/ids.ts'
import { usingStage, usingWorld } from '#test/contract/using.ts'
import { installed, member, workspace } from '#test/support/fixtures.ts'
import type { Answer } from '#test/support/platform.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { pathWithUnknownIds } from './world.ts'

const endpoints = Object.values(requestFunctions).flat()
const named = (some: readonly Endpoint[]) => some.map((one) => [`${one.method} ${one.path}`, one] as const)
const ofPeople = named(endpoints.filter(({ caller }) => caller === 'console'))

const platform = usingPlatform()
const stage = usingStage(platform)
const world = usingWorld(platform)

const call = (endpoint: Endpoint, headers: Record<string, string>, path = pathWithUnknownIds(endpoint)) => {
  platform.clock.advance(1_000)
  return platform.call(endpoint.method, path, { headers, ...(endpoint.method !== 'GET' && { body: {} }) })
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const codeOf = ({ status, body }: Answer): string => (status < 400 ? 'allowed' : body.error.code)

/** What somebody is told whom the endpoint does not let in at all. */
const SHUT_OUT = ['unauthorized', 'admin_required', 'insufficient_scope', 'disposable_token_readonly']

const surfaceTokenOf = async ({ installation, workspaceId, app, person }: Awaited<ReturnType<typeof installed>>) => {
  const claims = { ins: installation.id, ws: workspaceId, app: app.id, usr: person.user.id, sv: app.secret_version }
  return (await issueToken(platform.deps, 'surface', claims)).token
}

describe('who may call', () => {
  it.each(ofPeople)('%s: whoever has its role, and nobody else', async (_name, endpoint) => {
    const agent = await installed(platform.deps)
    const { workspaceId } = agent
    // Each of them is asked once: some endpoints end a session, a membership, an account.
    for (const role of ['owner', 'admin', 'member'] as const) {
      const { token } = await member(platform.deps, workspaceId, role)
      const code = codeOf(await call(endpoint, bearer(token)))
      const needed = (endpoint.role ?? 'member') as Role
      if (atLeast(role, needed)) expect(SHUT_OUT, `${role} → ${code}`).not.toContain(code)
      else expect(code, role).toBe('admin_required')
    }
    const removed = await member(platform.deps, workspaceId, 'owner')
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: workspaceId, user_id: removed.user.id })])
    const others = {
      nobody: {},
      'an integration': bearer(agent.token),
      'a developer': world.credentials.developer ?? {},
      'an admin': world.credentials.admin ?? {},
      'a removed member': bearer(removed.token),
    }
    for (const [who, headers] of Object.entries(others)) {
      expect(codeOf(await call(endpoint, headers)), who).toBe('unauthorized')
    }
  })
})

describe('a surface token', () => {
  const shut = named(endpoints.filter(({ caller }) => ['console', 'developer', 'admin'].includes(caller)))
  it.each(shut)('%s: writes nothing and reads nothing', async (_name, endpoint) => {
    const token = await surfaceTokenOf(world.integration)
    const code = codeOf(await call(endpoint, bearer(token)))
    expect(code).toBe(endpoint.method === 'GET' ? 'insufficient_scope' : 'disposable_token_readonly')
  })
})

describe('a console token', () => {
  const elsewhere = named(endpoints.filter(({ caller }) => ['integration', 'developer', 'admin'].includes(caller)))
  it.each(elsewhere)('%s: is no credential here', async (_name, endpoint) => {
    const code = codeOf(await call(endpoint, world.credentials.console ?? {}))
    expect(code).toBe(endpoint.caller === 'developer' ? 'not_a_developer' : 'unauthorized')
  })
})

describe('a member of another workspace', () => {
  /** What all workspaces see alike. */
  const SHARED = new Set(['app', 'agentRequest', 'text'])
  const owned = named(
    endpoints.filter(({ caller, params }) => {
      const kinds = Object.values(params)
      return caller === 'console' && kinds.length > 0 && !kinds.every((kind) => SHARED.has(kind))
    }),
  )
  it.each(owned)('%s: finds nothing, whatever their role', async (_name, endpoint) => {
    const sample = await stage.sample(endpoint)
    const stranger = await installed(platform.deps)
    const { token: _token, ...rest } = sample
    const answer = await stage.call(endpoint, { ...rest, token: stranger.person.token })
    expect(codeOf(answer), answer.text.slice(0, 200)).toBe('not_found')
  })
})

describe('an app’s sandbox token', () => {
  /** The app that a sample’s token is of, installed in a sandbox of its developer too: as `sandbox-token` does. */
  const sandboxToken = async (token: string): Promise<string> => {
    const { deps, clock } = platform
    const { app, ins, ws } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const customers = await deps.table.get(InstallationEntity, { workspace_id: ws, id: ins })
    if (!customers) throw new Error('the sample’s token is of no installation')
    const sandbox = await workspace(deps)
    const now = clock.now()
    const installation = {
      ...customers,
      id: newId('installation', now),
      workspace_id: sandbox.id,
      is_sandbox: true,
      created_at: now,
    }
    const grant = {
      id: newId('grant', now),
      installation_id: installation.id,
      workspace_id: sandbox.id,
      app_id: app,
      scopes: installation.scopes,
      status: 'active' as const,
      kind: 'sandbox' as const,
      created_at: now,
    }
    await deps.table.transact([InstallationEntity.create(installation), GrantEntity.create(grant)])
    const claims = { ins: installation.id, ws: sandbox.id, app, grt: grant.id, sv: 1 }
    return (await issueToken(deps, 'access', claims)).token
  }

  const owned = named(
    endpoints.filter(
      ({ caller, params }) => caller === 'integration' && Object.values(params).some((k) => k !== 'text'),
    ),
  )
  it.each(owned)('%s: finds nothing of a customer’s', async (_name, endpoint) => {
    const { token = '', ...sample } = await stage.sample(endpoint)
    const answer = await stage.call(endpoint, { ...sample, token: await sandboxToken(token) })
    expect(codeOf(answer), answer.text.slice(0, 200)).toBe('not_found')
  })
})
