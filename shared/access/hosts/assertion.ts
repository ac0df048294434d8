import { errors } from 'jose'
import { type ClientKeys, checkAssertion } from '#shared/access/assertions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { fetchJson, freshnessOf, UnusableDocument } from './document.ts'
import { type HostClient, HostClientEntity } from './entity.ts'
import { readOnce } from './reading.ts'

type Reading = Pick<Deps, 'table' | 'clock' | 'http' | 'settings'>

/**
 * Checks the assertion by which a host with keys proves itself. Each works once.
 * @param beforeReading see `resolveHostClient`
 * @throws `invalid_client`, `rate_limited`
 */
export const verifyAssertion = async (
  deps: Reading,
  client: HostClient,
  assertion: unknown,
  beforeReading: () => Promise<void>,
): Promise<void> => {
  const about = { clientId: client.id, assertion, where: 'your client id metadata document' }
  try {
    await checkAssertion(deps, about, (check) => withKeys(deps, client, beforeReading, check))
  } catch (error) {
    if (!(error instanceof UnusableDocument)) throw error
    throw fail('invalid_client', {
      message: `The client’s keys can’t be read: ${error.message}`,
      fix: 'Serve them at the jwks_uri of your client id metadata document.',
    })
  }
}

/** Verifies with the client's keys. If none fits, those of `jwks_uri` are read again. */
const withKeys = async <T>(
  deps: Reading,
  client: HostClient,
  beforeReading: () => Promise<void>,
  check: (keys: ClientKeys) => Promise<T>,
): Promise<T> => {
  const { jwks, jwks_uri, jwks_until = 0, jwks_read_at = 0 } = client
  if (jwks_uri === undefined) return check(parsed(jwks))
  const { clock } = deps
  if (jwks !== undefined && jwks_until > clock.now()) {
    try {
      return await check(parsed(jwks))
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || clock.now() < jwks_read_at + REREAD) throw error
    }
  }
  const asked = { url: jwks_uri, id: client.id, isKnown: true, beforeReading }
  const read = await readOnce(deps, asked, async () => {
    const { value, response } = await fetchJson(deps, jwks_uri)
    if (!isKeySet(value)) throw new UnusableDocument('It isn’t a JWK set.')
    const now = clock.now()
    const set = { jwks: JSON.stringify(value), jwks_until: now + freshnessOf(response), jwks_read_at: now }
    await deps.table.transact([HostClientEntity.update(client, { set })])
    return { ...client, ...set }
  })
  return check(parsed(read.jwks))
}

/** A key that isn’t known makes the platform read them again, but not more often. */
const REREAD = 5 * MINUTE

const isKeySet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)

const parsed = (jwks = '{"keys":[]}'): ClientKeys => JSON.parse(jwks) as ClientKeys
