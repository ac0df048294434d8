import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { atLeast, MemberEntity, type Role } from '#shared/identity/people/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { installed, member, workspace } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { platformErrorOf } from '#testkit/platform-error.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage, usingWorld } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'

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
const codeOf = (answer: Answer): string => (answer.status < 400 ? 'allowed' : platformErrorOf(answer).code)

/** Codes for callers that the endpoint doesn't admit at all. */
const SHUT_OUT = ['unauthorized', 'admin_required', 'insufficient_scope', 'disposable_token_readonly']

const surfaceTokenOf = async ({ installation, workspaceId, app, person }: Awaited<ReturnType<typeof installed>>) => {
  const claims = { ins: installation.id, ws: workspaceId, app: app.id, usr: person.user.id, sv: app.secret_version }
  return (await issueToken(platform.deps, 'surface', claims)).token
}

describe('the role of a caller', () => {
  it.each(ofPeople)('%s: admits callers with the required role and refuses all others', async (_name, endpoint) => {
    const agent = await installed(platform.deps)
    const { workspaceId } = agent
    // Each caller asks once, because some endpoints end a session, a membership or an account.
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
  it.each(elsewhere)('%s: is not accepted as a credential', async (_name, endpoint) => {
    const code = codeOf(await call(endpoint, world.credentials.console ?? {}))
    expect(code).toBe(endpoint.caller === 'developer' ? 'not_a_developer' : 'unauthorized')
  })
})

describe('a member of another workspace', () => {
  /** Endpoints whose answer is the same for all workspaces. */
  const SHARED = new Set(['app', 'agentRequest', 'developer', 'text'])
  const owned = named(
    endpoints.filter(({ caller, params }) => {
      const kinds = Object.values(params)
      return caller === 'console' && kinds.length > 0 && !kinds.every((kind) => SHARED.has(kind))
    }),
  )
  it.each(owned)('%s: finds nothing, whatever their role', async (_name, endpoint) => {
    const sample = await sampleCall(stage, endpoint)
    const stranger = await installed(platform.deps)
    const { token: _token, ...rest } = sample
    const answer = await stage.call(endpoint, { ...rest, token: stranger.person.token })
    expect(codeOf(answer), answer.text.slice(0, 200)).toBe('not_found')
  })
})

describe('an app’s sandbox token', () => {
  /** Installs the app of a sample's token in its developer's sandbox too, as `sandbox-token` does. */
  const sandboxToken = async (token: string): Promise<string> => {
    const { deps, clock } = platform
    const { app, ins, ws } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const customers = await deps.table.get(InstallationEntity, { workspace_id: ws, id: ins })
    if (!customers) throw new Error('the sample’s token has no installation')
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
  it.each(owned)('%s: finds no customer’s records', async (_name, endpoint) => {
    const { token = '', ...sample } = await sampleCall(stage, endpoint)
    const answer = await stage.call(endpoint, { ...sample, token: await sandboxToken(token) })
    expect(codeOf(answer), answer.text.slice(0, 200)).toBe('not_found')
  })
})
