import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import type { Deps } from '#shared/foundation/work/index.ts'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { UsedAssertionEntity } from './entity.ts'

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Public-key algorithms. None of them can be verified with a value that the client published. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA', 'Ed25519']

/** Types of an assertion, apart from none (RFC 10070). A token of another kind isn't one. */
const TYPES = ['jwt', 'client-authentication+jwt']

/** Longest life of an assertion. Its `jti` is remembered for as long. */
const LONGEST = HOUR

/** Keys that are tried for an assertion that doesn't name its key (RFC 7515, appendix D). */
const MOST_KEYS = 5

/** Public keys of a client. */
export type ClientKeys = JSONWebKeySet

/** Returns the client that an assertion names, before anything is verified (RFC 7521 §4.2). */
export const claimedClient = (assertion: unknown): string | undefined => {
  try {
    return decodeJwt(String(assertion)).sub
  } catch {
    return undefined
  }
}

/**
 * Checks the assertion by which a client with keys proves itself (RFC 7523 §3, RFC 10070). Each works once. Its audience is the
 * issuer alone: any other address may be another server's, to which somebody made the client address it (audience injection).
 * @param about.where whose keys these are, for the error's fix
 * @param about.endpoint address that is accepted as the audience, too
 * @param withKeys calls back with the client's keys, and again if they may have changed
 * @throws `invalid_client`
 */
export const checkAssertion = async (
  { table, clock, settings: { baseUrl } }: Pick<Deps, 'table' | 'clock' | 'settings'>,
  about: { clientId: string; assertion: unknown; where: string; endpoint?: string | undefined },
  withKeys: (check: (keys: ClientKeys) => Promise<JWTPayload>) => Promise<JWTPayload>,
): Promise<void> => {
  const { clientId, assertion, where, endpoint } = about
  const refused = (message: string, fix = `Send a client_assertion signed with a key of ${where}.`): PlatformError =>
    fail('invalid_client', { message, fix })
  if (typeof assertion !== 'string') throw refused('client_assertion is missing.')
  try {
    const {
      jti,
      aud,
      exp = 0,
    } = await withKeys((keys) =>
      verifyWith(keys, assertion, {
        algorithms: ALGORITHMS,
        issuer: clientId,
        subject: clientId,
        currentDate: new Date(clock.now()),
        clockTolerance: 30,
        requiredClaims: ['aud', 'exp', 'jti'],
      }),
    )
    const issuer = `${baseUrl}/connect`
    const [only, ...others] = [aud].flat()
    if (others.length > 0 || (only !== issuer && (endpoint === undefined || only !== endpoint))) {
      throw refused(
        'The audience of the assertion isn’t this issuer alone.',
        `Set aud to ${issuer}, and to nothing else (RFC 10070).`,
      )
    }
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

/** Verifies an assertion with the key that it names, or else with each of the first that fit. */
const verifyWith = async (keys: ClientKeys, assertion: string, options: JWTVerifyOptions): Promise<JWTPayload> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(assertion, createLocalJWKSet(keys), options)
    return typed(payload, protectedHeader.typ)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tried = 0
    for await (const key of error) {
      if (++tried > MOST_KEYS) break
      try {
        const { payload, protectedHeader } = await jwtVerify(assertion, key, options)
        return typed(payload, protectedHeader.typ)
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

const typed = (payload: JWTPayload, typ: unknown): JWTPayload => {
  if (
    typ !== undefined &&
    !TYPES.includes(
      String(typ)
        .toLowerCase()
        .replace(/^application\//, ''),
    )
  ) {
    throw new errors.JWTInvalid('the assertion is a token of another kind')
  }
  return payload
}
