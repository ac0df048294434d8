import type { CallerKind } from '#shared/http/callers.ts'
import type { IdKind } from '#shared/kernel/ids.ts'
import type { Credential, World } from './world.ts'

/** Somebody who calls every operation. */
export interface Principal {
  name: string
  /** The kind of caller that the credential makes; the operations of all others have to refuse it. */
  caller: CallerKind
  credential(world: World): Credential
  /** The one of its kind that also goes to the boundaries of every schema: those lie behind the same credential. */
  first?: true
  /** Who calls an operation in its place that would end the credential, and with which ids. */
  spare?(world: World, operation: string): { credential: Credential; ids?: Partial<Record<IdKind, string>> } | undefined
  /** An operation that tells whether the credential still holds. */
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

/** Everybody whom the platform knows, in the table's order. */
export const PRINCIPALS: readonly Principal[] = [
  { name: 'nobody', caller: 'none', credential: () => ({}), first: true },
  { name: 'OAuth client', caller: 'client', credential: () => ({}), first: true },
  { name: 'access token', caller: 'integration', credential: credential('access'), first: true, holds: '/api/v1/me' },
  {
    name: 'callback token',
    caller: 'integration',
    credential: credential('callback'),
    holds: '/api/v1/me',
    // With its run it ends, too.
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
