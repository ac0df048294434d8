import type { Deps } from '#shared/foundation/work/index.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import type { Consents, Installation } from './entity.ts'
import { type Grant, GrantEntity } from './grant-entity.ts'

type Reading = Pick<Deps, 'table'>

/** Returns the consents with a direct install, which replaces the previous one. */
export const withDirect = (consents: Consents, direct: readonly string[]): Consents => ({
  ...consents,
  direct: [...direct],
})

/** Returns the consents with one more grant. */
export const withGrant = (consents: Consents, { id, scopes }: Pick<Grant, 'id' | 'scopes'>): Consents => ({
  ...consents,
  grants: consents.grants + 1,
  granted: counted(consents.granted, scopes, 1),
  latest: id,
})

/** Returns the consents without a grant that ends. */
export const withoutGrant = async (
  deps: Reading,
  consents: Consents,
  { id, installation_id, scopes }: Pick<Grant, 'id' | 'installation_id' | 'scopes'>,
): Promise<Consents> => {
  const grants = Math.max(0, consents.grants - 1)
  const latest = consents.latest === id ? undefined : consents.latest
  return {
    ...consents,
    grants,
    granted: counted(consents.granted, scopes, -1),
    latest: latest ?? (grants > 0 ? await findLiveGrant(deps, installation_id, id) : undefined),
  }
}

const counted = (granted: Consents['granted'], scopes: readonly string[], by: 1 | -1): Consents['granted'] =>
  Object.fromEntries(
    SCOPE_NAMES.map((scope) => [scope, (granted[scope] ?? 0) + (scopes.includes(scope) ? by : 0)] as const).filter(
      ([, n]) => n > 0,
    ),
  )

/** Newest grants examined for one that is still live. */
const NEWEST = 50

const findLiveGrant = async (
  { table }: Reading,
  installation_id: string,
  ended: string,
): Promise<string | undefined> => {
  const { items } = await table.query(GrantEntity, { installation_id }, { limit: NEWEST })
  return items.find(({ id, status }) => status === 'active' && id !== ended)?.id
}

/** Reports whether a consent is left. */
const isConsented = ({ direct, grants }: Consents): boolean => direct !== undefined || grants > 0

/** Returns the fields of an installation that follow from its consents. */
export const consentFields = (
  { consent_version, withdrawn_at }: Pick<Installation, 'consent_version' | 'withdrawn_at'>,
  consents: Consents,
  now: number,
) => ({
  consents,
  consent_version: consent_version + 1,
  scopes: SCOPE_NAMES.filter(
    (scope) => consents.direct?.includes(scope) === true || consents.granted[scope] !== undefined,
  ),
  withdrawn_at: isConsented(consents) ? undefined : (withdrawn_at ?? now),
})

/** Condition that no consent of the installation changed since it was read. */
export const sameConsents = ({ consent_version }: Pick<Installation, 'consent_version'>) => ({
  consent_version,
})

/**
 * Returns the grant that binds a run which no token starts. Undefined for a direct install, which lasts as long as the
 * installation.
 */
export const defaultGrant = ({ consents }: Pick<Installation, 'consents'>): string | undefined =>
  consents.direct === undefined ? consents.latest : undefined
