import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { issueToken, TOKENS, type TokenKind } from '#shared/foundation/tokens/tokens.ts'
import type { CallerKind } from '#shared/http/callers.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { DeveloperKeyEntity } from '#shared/identity/developers/entity.ts'
import { MemberEntity, SessionEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { AdminEntity, AdminKeyEntity } from '#shared/staff/admins/entity.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { newDeveloper } from '#testkit/developers.ts'
import { adminToken, callbackToken, type Installed, installed, member, workspace } from '#testkit/fixtures.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { bearer } from './support.ts'

type Headers = Record<string, string>

/** A caller, and the endpoints that refuse them. */
export interface Principal {
  /** Kind of caller that the credential is meant for, if any. */
  of?: CallerKind
  /** The `typ` claim of the credential. */
  token?: TokenKind
  /** Error code at an endpoint of their own kind; undefined where they are admitted. */
  refusal(endpoint: Endpoint): string | undefined
  /** Set for the credential of another principal in another state. */
  likeAnother?: true
  /** Issues a fresh credential, since its life is short. */
  make(platform: TestPlatform): Promise<Headers>
}

const always = (code: string) => () => code
const tokenOf = (kind: TokenKind, of: CallerKind, refusal: Principal['refusal'], make: Principal['make']) => ({
  of,
  token: kind,
  refusal,
  ...(refusal !== letIn && refusal !== readsOnly && { likeAnother: true as const }),
  make,
})

const surfaceOf = ({ deps }: TestPlatform, { installation, workspaceId, app, person }: Installed) =>
  issueToken(deps, 'surface', {
    ins: installation.id,
    ws: workspaceId,
    app: app.id,
    usr: person.user.id,
    mem: person.user.created_at,
    sv: app.secret_version,
  })

/** Returns a callback token of a new run. */
const callbackOf = async (platform: TestPlatform): Promise<string> => {
  const app = await installed(platform.deps)
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  return callbackToken(platform.deps, app, body.id)
}

const staffOf = async ({ deps }: TestPlatform, role: 'superadmin' | 'moderator') => {
  const now = deps.clock.now()
  const admin = {
    ...stampOf(newId('admin', now)),
    email: `${role}-${newId('admin', now)}@example.com`,
    name: 'Mo',
    role,
    password_hash: 'none',
    session_version: 1,
  }
  const key = `adk_${admin.id}`
  const record = { key_hash: sha256(key), admin_id: admin.id, name: 'ci', created_at: now, expires_at: now + 3_600_000 }
  await deps.table.transact([AdminEntity.create(admin), AdminKeyEntity.create(record)])
  const token = await adminToken(deps, admin.id)
  return { admin, key, token, keyHash: record.key_hash }
}

/** Returns the same app's token after something about its installation has changed. */
const changed = (change: (platform: TestPlatform, app: Installed) => Promise<void>): Principal['make'] => {
  return async (platform) => {
    const app = await installed(platform.deps)
    await change(platform, app)
    return bearer(app.token)
  }
}
const suspended = { set: { status: 'suspended' as const } }

const person = (
  change?: (platform: TestPlatform, who: Awaited<ReturnType<typeof member>>, ws: string) => Promise<void>,
) =>
  (async (platform) => {
    const { id } = await workspace(platform.deps)
    const who = await member(platform.deps, id, 'owner')
    await change?.(platform, who, id)
    return bearer(who.token)
  }) satisfies Principal['make']

const withRole = (role: 'admin' | 'member', refused: readonly string[]) =>
  tokenOf(
    'console',
    'console',
    ({ role: needed }) => (refused.includes(needed ?? '') ? 'admin_required' : undefined),
    async (platform) => bearer((await member(platform.deps, (await workspace(platform.deps)).id, role)).token),
  )

const readsOnly = ({ method, scope }: Endpoint): string | undefined =>
  method !== 'GET' ? 'disposable_token_readonly' : scope && !scope.endsWith(':read') ? 'insufficient_scope' : undefined

/** Returns a formerly valid token that has expired. It is of no kind anymore, wherever it is sent. */
const expired = (kind: TokenKind, of: CallerKind, make: Principal['make']): Principal => ({
  of,
  refusal: always('unauthorized'),
  likeAnother: true,
  make: async (platform) => {
    const headers = await make(platform)
    platform.clock.advance(TOKENS[kind].life + 1_000)
    return headers
  },
})

const accessHeaders: Principal['make'] = async ({ deps }) => bearer((await installed(deps)).token)
const callbackHeaders: Principal['make'] = async (platform) => bearer(await callbackOf(platform))
const surfaceHeaders: Principal['make'] = async (platform) =>
  bearer((await surfaceOf(platform, await installed(platform.deps))).token)
const adminHeaders: Principal['make'] = async (platform) => bearer((await staffOf(platform, 'superadmin')).token)

const goneOrReading = ({ method }: Endpoint) => (method === 'GET' ? 'unauthorized' : 'disposable_token_readonly')
const letIn = () => undefined
const superadminOnly = ({ role }: Endpoint) => (role === 'superadmin' ? 'admin_required' : undefined)

/** Every principal, with the code that refuses it. */
export const PRINCIPALS: Record<string, Principal> = {
  nobody: { refusal: letIn, make: async () => ({}) },
  'an empty Authorization header': { refusal: letIn, make: async () => ({ authorization: '' }) },
  garbage: { refusal: letIn, make: async () => bearer('garbage') },
  'three dots': { refusal: letIn, make: async () => bearer('...') },
  'a Basic credential': { refusal: letIn, make: async () => ({ authorization: 'Basic YTpi' }) },
  'a token with alg none': { refusal: letIn, make: async () => bearer('eyJhbGciOiJub25lIn0.e30.') },
  'a wrong developer key': {
    of: 'developer',
    refusal: always('unauthorized'),
    make: async () => ({ 'x-developer-key': 'dvk_wrong' }),
  },
  'an empty developer key': {
    of: 'developer',
    refusal: always('unauthorized'),
    make: async () => ({ 'x-developer-key': '' }),
  },
  'a wrong admin key': { of: 'admin', refusal: always('unauthorized'), make: async () => ({ 'x-admin-key': 'wrong' }) },
  'an admin’s token next to a wrong admin key': {
    of: 'admin',
    token: 'admin',
    refusal: always('unauthorized'),
    make: async (platform) => ({ ...(await adminHeaders(platform)), 'x-admin-key': 'wrong' }),
  },

  'an access token': tokenOf('access', 'integration', letIn, accessHeaders),
  'an access token with one scope': tokenOf(
    'access',
    'integration',
    ({ scope }) => (scope && scope !== 'members:read' ? 'insufficient_scope' : undefined),
    async ({ deps }) => bearer((await installed(deps, { scopes: ['members:read'] })).token),
  ),
  'an access token whose scopes the workspace denied': tokenOf(
    'access',
    'integration',
    ({ scope }) => (scope ? 'scope_denied_by_admin' : undefined),
    changed(async ({ deps }, { workspaceId }) =>
      deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set: { denied_scopes: [...SCOPE_NAMES] } })]),
    ),
  ),
  'an expired access token': expired('access', 'integration', accessHeaders),
  'an access token whose grant was revoked': tokenOf(
    'access',
    'integration',
    always('unauthorized'),
    changed(async ({ deps }, { grant }) =>
      deps.table.transact([GrantEntity.update(grant, { set: { status: 'revoked' } })]),
    ),
  ),
  'an access token from before the secret’s rotation': tokenOf(
    'access',
    'integration',
    always('unauthorized'),
    changed(async ({ deps }, { app }) => deps.table.transact([AppEntity.update(app, { set: { secret_version: 2 } })])),
  ),
  'an access token of an uninstalled app': tokenOf(
    'access',
    'integration',
    always('unauthorized'),
    changed(async ({ deps }, { installation }) =>
      deps.table.transact([InstallationEntity.update(installation, { set: { status: 'revoked' } })]),
    ),
  ),
  'an access token of a suspended app': tokenOf(
    'access',
    'integration',
    always('app_suspended'),
    changed(async ({ deps }, { app }) => deps.table.transact([AppEntity.update(app, suspended)])),
  ),
  'an access token of a suspended installation': tokenOf(
    'access',
    'integration',
    always('installation_suspended'),
    changed(async ({ deps }, { installation }) =>
      deps.table.transact([InstallationEntity.update(installation, suspended)]),
    ),
  ),
  'an access token in a suspended workspace': tokenOf(
    'access',
    'integration',
    always('installation_suspended'),
    changed(async ({ deps }, { workspaceId }) =>
      deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, suspended)]),
    ),
  ),
  'a callback token': tokenOf('callback', 'integration', letIn, callbackHeaders),
  'an expired callback token': expired('callback', 'integration', callbackHeaders),
  'a callback token of an unknown run': tokenOf('callback', 'integration', always('unauthorized'), async (platform) => {
    const app = await installed(platform.deps)
    const run = newId('run', platform.clock.now())
    await platform.deps.table.transact([RunEntity.delete({ installation_id: app.installation.id, id: run })])
    return bearer(await callbackToken(platform.deps, app, run))
  }),
  'a surface token': tokenOf('surface', 'integration', readsOnly, surfaceHeaders),
  'an expired surface token': expired('surface', 'integration', surfaceHeaders),
  'a surface token of a removed member': tokenOf('surface', 'integration', goneOrReading, async (platform) => {
    const app = await installed(platform.deps)
    const key = { workspace_id: app.workspaceId, user_id: app.person.user.id }
    await platform.deps.table.transact([MemberEntity.delete(key)])
    return bearer((await surfaceOf(platform, app)).token)
  }),

  'a person': tokenOf('console', 'console', letIn, person()),
  'an expired console token': expired('console', 'console', person()),
  'a person who signed out': tokenOf(
    'console',
    'console',
    always('unauthorized'),
    person(async ({ deps }, { session }) => deps.table.transact([SessionEntity.delete({ id: session.id })])),
  ),
  'a removed member': tokenOf(
    'console',
    'console',
    always('unauthorized'),
    person(async ({ deps }, { user }, workspace_id) =>
      deps.table.transact([MemberEntity.delete({ workspace_id, user_id: user.id })]),
    ),
  ),
  'a deleted person': tokenOf(
    'console',
    'console',
    always('unauthorized'),
    person(async ({ deps }, { user }) =>
      deps.table.transact([UserEntity.update(user, { set: { status: 'deleted' } })]),
    ),
  ),
  'an admin where an owner is needed': withRole('admin', ['owner']),
  'a member where an admin is needed': withRole('member', ['owner', 'admin']),
  'a person in a suspended workspace': tokenOf(
    'console',
    'console',
    ({ method, whileSuspended }) => (method === 'GET' || whileSuspended ? undefined : 'forbidden'),
    person(async ({ deps }, _who, id) => deps.table.transact([WorkspaceEntity.update({ id }, suspended)])),
  ),

  'a developer': {
    of: 'developer',
    refusal: letIn,
    make: async (platform) => ({ 'x-developer-key': (await newDeveloper(platform)).key }),
  },
  'a blocked developer': {
    of: 'developer',
    refusal: always('not_a_developer'),
    make: async (platform) => {
      const { key } = await newDeveloper(platform)
      await platform.deps.table.transact([
        DeveloperKeyEntity.update({ key_hash: sha256(key) }, { set: { status: 'blocked' } }),
      ])
      return { 'x-developer-key': key }
    },
  },
  'a developer’s rotated key': {
    of: 'developer',
    refusal: always('unauthorized'),
    make: async (platform) => {
      const { key, call } = await newDeveloper(platform)
      await call('POST', '/api/v1/dev/me/rotate-key')
      return { 'x-developer-key': key }
    },
  },

  'a superadmin’s key': {
    of: 'admin',
    refusal: letIn,
    make: async (platform) => ({ 'x-admin-key': (await staffOf(platform, 'superadmin')).key }),
  },
  'a moderator’s key': {
    of: 'admin',
    refusal: superadminOnly,
    make: async (platform) => ({ 'x-admin-key': (await staffOf(platform, 'moderator')).key }),
  },
  'an expired admin key': {
    of: 'admin',
    refusal: always('unauthorized'),
    make: async (platform) => {
      const { key } = await staffOf(platform, 'superadmin')
      platform.clock.advance(3_600_001)
      return { 'x-admin-key': key }
    },
  },
  'a removed admin key': {
    of: 'admin',
    refusal: always('unauthorized'),
    make: async (platform) => {
      const { key, keyHash } = await staffOf(platform, 'superadmin')
      await platform.deps.table.transact([AdminKeyEntity.delete({ key_hash: keyHash })])
      return { 'x-admin-key': key }
    },
  },
  'a superadmin': tokenOf('admin', 'admin', letIn, adminHeaders),
  'a moderator': tokenOf('admin', 'admin', superadminOnly, async (platform) =>
    bearer((await staffOf(platform, 'moderator')).token),
  ),
  'an expired admin token': expired('admin', 'admin', adminHeaders),
  'an admin token from before the password’s change': tokenOf(
    'admin',
    'admin',
    always('unauthorized'),
    async (platform) => {
      const { admin, token } = await staffOf(platform, 'superadmin')
      await platform.deps.table.transact([AdminEntity.update(admin, { set: { session_version: 2 } })])
      return bearer(token)
    },
  ),
  'a removed admin': tokenOf('admin', 'admin', always('unauthorized'), async (platform) => {
    const { admin, token } = await staffOf(platform, 'superadmin')
    await platform.deps.table.transact([AdminEntity.delete(admin)])
    return bearer(token)
  }),
}

/** Returns the code that refuses a principal at an endpoint; undefined where it isn't refused for who it is. */
export const refusalOf = ({ of, token, refusal }: Principal, endpoint: Endpoint): string | undefined => {
  if (endpoint.caller === 'none') return undefined
  if (endpoint.caller === 'client') return 'invalid_client'
  if (endpoint.caller === of) return refusal(endpoint)
  if (token === 'surface' && endpoint.caller !== 'integration') {
    return endpoint.method === 'GET' ? 'insufficient_scope' : 'disposable_token_readonly'
  }
  return token && endpoint.caller === 'developer' ? 'not_a_developer' : 'unauthorized'
}
