import type { CallerKind } from '#shared/http/callers.ts'
import type { IdKind } from '#shared/kernel/ids.ts'
import type { Credential } from './world/context.ts'
import type { World } from './world.ts'

/** A principal that calls every operation. */
export interface Principal {
  name: string
  /** Kind of caller that the credential belongs to; operations of other kinds have to refuse it. */
  caller: CallerKind
  credential(world: World): Credential
  /** Set for the principal of its kind that also tests the boundaries of every schema, which the others share. */
  first?: true
  /** Credential and ids to use for an operation that would end the principal's own credential. */
  spare?(world: World, operation: string): { credential: Credential; ids?: Partial<Record<IdKind, string>> } | undefined
  /** Operation that shows whether the credential is still valid. */
  holds?: string
}

const credential =
  (name: keyof World['credentials']) =>
  (world: World): Credential =>
    world.credentials[name]

const spare = (world: World, operation: string) => {
  const found = world.spares[operation]
  return found && { credential: found }
}

/** All principals that the platform knows, in the table's order. */
export const PRINCIPALS: readonly Principal[] = [
  { name: 'nobody', caller: 'none', credential: () => ({}), first: true },
  { name: 'OAuth client', caller: 'client', credential: () => ({}), first: true },
  { name: 'access token', caller: 'integration', credential: credential('access'), first: true, holds: '/api/v1/me' },
  {
    name: 'callback token',
    caller: 'integration',
    credential: credential('callback'),
    holds: '/api/v1/me',
    // The token ends with its run.
    spare: ({ ending }, operation) => (/^api\.runs\.(cancel|complete)$/.test(operation) ? ending : undefined),
  },
  { name: 'surface token', caller: 'integration', credential: credential('surface'), holds: '/api/v1/me' },
  { name: 'sandbox token', caller: 'integration', credential: credential('sandbox'), holds: '/api/v1/me' },
  { name: 'owner', caller: 'console', credential: credential('owner'), first: true, spare, holds: '/console/me' },
  { name: 'member', caller: 'console', credential: credential('member'), spare, holds: '/console/me' },
  {
    name: 'developer',
    caller: 'developer',
    credential: credential('developer'),
    first: true,
    spare,
    holds: '/api/v1/dev/me',
  },
  { name: 'moderator', caller: 'admin', credential: credential('moderator'), holds: '/admin/me' },
  { name: 'superadmin', caller: 'admin', credential: credential('superadmin'), first: true, holds: '/admin/me' },
  { name: 'admin key', caller: 'admin', credential: credential('key'), holds: '/admin/me' },
]
