import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import type { Deps } from '#shared/foundation/work/index.ts'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { fetchJson, freshnessOf, UnusableDocument } from './document.ts'
import { type HostClient, HostClientEntity, UsedAssertionEntity } from './entity.ts'

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Public-key algorithms. None of them can be verified with a value that the client published. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA', 'Ed25519']

/** Longest life of an assertion. Its `jti` is remembered for as long. */
const LONGEST = HOUR

type Reading = Pick<Deps, 'table' | 'clock' | 'http' | 'settings'>

/**
 * Checks the assertion by which a host with keys proves itself (RFC 7523 §3). Each works once.
 * @throws `invalid_client`
 */
export const verifyAssertion = async (deps: Reading, client: HostClient, assertion: unknown): Promise<void> => {
  if (typeof assertion !== 'string') throw refused('client_assertion is missing.')
  const { baseUrl } = deps.settings
  const check = async (keys: JSONWebKeySet) => {
    const { payload } = await jwtVerify(assertion, createLocalJWKSet(keys), {
      algorithms: ALGORITHMS,
      issuer: client.id,
      subject: client.id,
      audience: [`${baseUrl}/connect`, `${baseUrl}/connect/token`],
      currentDate: new Date(deps.clock.now()),
      clockTolerance: 30,
      requiredClaims: ['exp', 'jti'],
    })
    return payload
  }
  try {
    const payload = await withKeys(deps, client, check)
    const { jti, exp = 0 } = payload
    const until = exp * SECOND
    if (until > deps.clock.now() + LONGEST + MINUTE) throw refused('The assertion lives longer than an hour.')
    const jti_hash = sha256(`${client.id}\n${jti}`)
    await deps.table.transact([UsedAssertionEntity.create({ jti_hash, expires_at: until + MINUTE })])
  } catch (error) {
    if (error instanceof ConditionFailed) throw refused('This assertion was used before.')
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused('The assertion isn’t valid.')
    if (error instanceof UnusableDocument) throw refused(`The client’s keys can’t be read: ${error.message}`)
    throw error
  }
}

/** Verifies with the client's keys. If none fits, those of `jwks_uri` are read again. */
const withKeys = async <T>(
  deps: Reading,
  client: HostClient,
  check: (keys: JSONWebKeySet) => Promise<T>,
): Promise<T> => {
  const { jwks, jwks_uri, jwks_until = 0, jwks_read_at = 0 } = client
  if (jwks_uri === undefined) return check(parsed(jwks))
  const now = deps.clock.now()
  if (jwks !== undefined && jwks_until > now) {
    try {
      return await check(parsed(jwks))
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || now < jwks_read_at + REREAD) throw error
    }
  }
  const { value, response } = await fetchJson(deps, jwks_uri)
  const text = JSON.stringify(value)
  await deps.table.transact([
    HostClientEntity.update(client, {
      set: { jwks: text, jwks_until: now + freshnessOf(response), jwks_read_at: now },
    }),
  ])
  return check(parsed(text))
}

/** A key that isn’t known makes the platform read them again, but not more often. */
const REREAD = 5 * MINUTE

const parsed = (jwks = '{"keys":[]}'): JSONWebKeySet => JSON.parse(jwks) as JSONWebKeySet

const refused = (message: string): PlatformError =>
  fail('invalid_client', {
    message,
    fix: 'Send a client_assertion signed with a key of your client id metadata document.',
  })
