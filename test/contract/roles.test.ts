import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { atLeast, type Role } from '#shared/identity/people/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { platformErrorOf } from '#testkit/platform-error.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'

const endpoints = Object.values(requestFunctions).flat()
const named = (some: readonly Endpoint[]) => some.map((one) => [`${one.method} ${one.path}`, one] as const)
const ofPeople = named(endpoints.filter(({ caller }) => caller === 'console'))

const platform = usingPlatform()
const stage = usingStage(platform)

const call = (endpoint: Endpoint, headers: Record<string, string>, path = pathWithUnknownIds(endpoint)) => {
  platform.clock.advance(1_000)
  return platform.call(endpoint.method, path, { headers, ...(endpoint.method !== 'GET' && { body: {} }) })
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const codeOf = (answer: Answer): string => (answer.status < 400 ? 'allowed' : platformErrorOf(answer).code)

/** Codes for callers that the endpoint doesn't admit at all. */
const SHUT_OUT = ['unauthorized', 'admin_required', 'insufficient_scope', 'disposable_token_readonly']

describe('the role of a caller', () => {
  it.each(ofPeople)(
    '%s: admits callers with the required role and refuses those of a lower one',
    async (_name, endpoint) => {
      const { id } = await workspace(platform.deps)
      // Each caller asks once, because some endpoints end a session, a membership or an account.
      for (const role of ['owner', 'admin', 'member'] as const) {
        const { token } = await member(platform.deps, id, role)
        const code = codeOf(await call(endpoint, bearer(token)))
        const needed = (endpoint.role ?? 'member') as Role
        if (atLeast(role, needed)) expect(SHUT_OUT, `${role} → ${code}`).not.toContain(code)
        else expect(code, role).toBe('admin_required')
      }
    },
  )
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
      ...stampOf(newId('installation', now)),
      workspace_id: sandbox.id,
      is_sandbox: true,
    }
    const grant = {
      ...stampOf(newId('grant', now)),
      installation_id: installation.id,
      workspace_id: sandbox.id,
      app_id: app,
      scopes: installation.scopes,
      status: 'active' as const,
      kind: 'sandbox' as const,
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
