import type { PublicJwk, SigningKey } from '#shared/kernel/keyring.ts'
import type { RingName } from '#shared/kernel/ports/keys.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import type { Table } from '#shared/table/table.ts'
import type { Deps } from '../work/work.ts'
import { type PublishedKey, SigningKeyEntity } from './entity.ts'

/** Keys that this process knows to be published, by table. */
const published = new WeakMap<Table, Set<string>>()

/** Loads the ring's current key pair. Publishes its public half before the first signature. */
export const loadSigningKey = async (
  { keys, table, clock }: Pick<Deps, 'keys' | 'table' | 'clock'>,
  ringName: RingName,
): Promise<SigningKey> => {
  const pair = (await keys[ringName]()).signing()
  if (!pair) throw new Error(`the ${ringName} keyring has no current key`)
  const known = published.get(table) ?? new Set()
  published.set(table, known)
  if (known.has(pair.kid)) return pair
  const { kid, jwk } = pair
  const record = { ring: ringName, kid, x: jwk.x, y: jwk.y, created_at: clock.now() }
  const isThere = await table.get(SigningKeyEntity, { ring: ringName, kid })
  if (!isThere) await ifUnchanged(table.transact([SigningKeyEntity.create(record)]))
  known.add(kid)
  return pair
}

/** Loads a published key, or undefined if nothing was ever signed with it. */
export const findPublicKey = async (
  { table }: Pick<Deps, 'table'>,
  ring: RingName,
  kid: string,
): Promise<PublicJwk | undefined> => {
  const found = kid === '' ? undefined : await table.get(SigningKeyEntity, { ring, kid })
  return found && toJwk(found)
}

/** Most keys that a JWKS lists, newest rotations included: a ring is rotated a few times a year. */
const LISTED = 100

/**
 * Lists a ring's published keys.
 * @param keptMs time for which a retired key stays listed. A key is retired when the next one is published. Default: for ever
 */
export const listPublicKeys = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  ring: RingName,
  keptMs = Number.POSITIVE_INFINITY,
): Promise<PublicJwk[]> => {
  const { items } = await table.query(SigningKeyEntity, { ring }, { limit: LISTED })
  const now = clock.now()
  const retiredAt = ({ created_at }: PublishedKey): number =>
    Math.min(...items.map((other) => other.created_at).filter((at) => at > created_at))
  return items.filter((key) => retiredAt(key) + keptMs > now).map(toJwk)
}

const toJwk = ({ kid, x, y }: PublishedKey): PublicJwk => ({
  kty: 'EC',
  crv: 'P-256',
  x,
  y,
  kid,
  alg: 'ES256',
  use: 'sig',
})
