import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import type { Deps } from '#shared/foundation/work/index.ts'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { UsedAssertionEntity } from './entity.ts'

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Public-key algorithms. None of them can be verified with a value that the client published. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA', 'Ed25519']

/** Longest life of an assertion. Its `jti` is remembered for as long. */
const LONGEST = HOUR

/** Public keys of a client. */
export type ClientKeys = JSONWebKeySet

/**
 * Checks the assertion by which a client with keys proves itself (RFC 7523 §3). Each works once.
 * @param withKeys calls back with the client's keys, and again if they may have changed
 * @param where whose keys these are, for the error's fix
 * @throws `invalid_client`
 */
export const checkAssertion = async (
  { table, clock, settings: { baseUrl } }: Pick<Deps, 'table' | 'clock' | 'settings'>,
  { clientId, assertion, where }: { clientId: string; assertion: unknown; where: string },
  withKeys: (check: (keys: ClientKeys) => Promise<JWTPayload>) => Promise<JWTPayload>,
): Promise<void> => {
  const refused = (message: string): PlatformError =>
    fail('invalid_client', { message, fix: `Send a client_assertion signed with a key of ${where}.` })
  if (typeof assertion !== 'string') throw refused('client_assertion is missing.')
  try {
    const { jti, exp = 0 } = await withKeys(async (keys) => {
      const { payload } = await jwtVerify(assertion, createLocalJWKSet(keys), {
        algorithms: ALGORITHMS,
        issuer: clientId,
        subject: clientId,
        audience: [`${baseUrl}/connect`, `${baseUrl}/connect/token`],
        currentDate: new Date(clock.now()),
        clockTolerance: 30,
        requiredClaims: ['exp', 'jti'],
      })
      return payload
    })
    const until = exp * SECOND
    if (until > clock.now() + LONGEST + MINUTE) throw refused('The assertion lives longer than an hour.')
    const jti_hash = sha256(`${clientId}\n${jti}`)
    await table.transact([UsedAssertionEntity.create({ jti_hash, expires_at: until + MINUTE })])
  } catch (error) {
    if (error instanceof ConditionFailed) throw refused('This assertion was used before.')
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused('The assertion isn’t valid.')
    throw error
  }
}
