import type { Workspace } from '#shared/identity/people/index.ts'
import { covers, SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import type { Installation } from './entity.ts'

type Granted = { scopes: readonly string[] }
type Banning = Pick<Workspace, 'denied_scopes'>

/**
 * Lists the scopes in effect: those of the installation's live consents, without those that the workspace banned
 * (contract/oauth-and-tokens.md#scopes-in-effect). For showing; {@link mayUse} decides.
 */
export const scopesInEffect = ({ scopes }: Granted, { denied_scopes }: Banning): Scope[] =>
  SCOPE_NAMES.filter((scope) => scopes.includes(scope) && !denied_scopes.includes(scope))

/** Reports whether a scope is in effect, itself or implied by its `:write`. A banned `:read` isn't implied. */
export const mayUse = ({ scopes }: Granted, { denied_scopes }: Banning, scope: Scope): boolean =>
  covers(scopes, scope) && !denied_scopes.includes(scope)

/**
 * Reports whether anybody still consents to the installation. Without a live consent it has no scopes, and nothing is sent
 * to it.
 */
export const hasConsent = ({ withdrawn_at }: Pick<Installation, 'withdrawn_at'>): boolean => withdrawn_at === undefined

/** Reports whether an installation works: neither suspended nor uninstalled, and somebody consents to it. */
export const isWorking = (installation: Pick<Installation, 'status' | 'withdrawn_at'>): boolean =>
  installation.status === 'active' && hasConsent(installation)

/** Error code and message of a run that ends with its consent. */
export const ACCESS_WITHDRAWN = ['access_withdrawn', 'The workspace withdrew the app’s access.'] as const
