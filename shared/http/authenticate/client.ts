import { authenticateByAssertion, authenticateClient } from '#shared/access/oauth/index.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { takeRateLimit } from '../rate-limit.ts'
import type { Authenticator, Credentials } from './types.ts'

/**
 * Authenticates an OAuth client by body fields only, or also by HTTP Basic or a signed assertion where the RFCs are followed strictly.
 * @throws `invalid_client`, whose `fix` names the body fields if the client used only another method; `invalid_request`
 * if it identified itself twice (RFC 6749 §2.3) or put body parameters into the address
 */
export const client: Authenticator<'client'> = async (deps, credentials) => {
  const body = (credentials.body ?? {}) as Record<string, unknown>
  const isSigned = credentials.standard === true && body.client_assertion !== undefined
  const basic = !isSigned && credentials.standard && basicCredentials(credentials)
  const { client_id, client_secret } = basic || body
  if (!isSigned && (!client_id || !client_secret)) throw unidentified(credentials)
  if (isSigned && client_secret) refuseTwoMethods()
  const app = isSigned
    ? await authenticateByAssertion(deps, body, credentials.path)
    : await authenticateClient(deps, client_id, client_secret)
  const headers = await takeRateLimit(deps, { name: `client:${app.id}`, rate: LIMITS.clientRate, scope: 'client' })
  if (!basic) refuseSecondIdentity(credentials)
  refuseAddress(credentials)
  return { caller: { kind: 'client', app }, headers }
}

/**
 * Reads HTTP Basic credentials, whose parts are form-encoded (RFC 6749 §2.3.1).
 * @throws `invalid_request` if the body identifies the client, too, by a secret or as another one (RFC 6749 §2.3)
 */
const basicCredentials = ({ headers, body }: Credentials): Record<string, string> | undefined => {
  const encoded = /^basic +([\w+/-]+=*) *$/i.exec(headers.authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString()
  const at = text.indexOf(':')
  const [client_id, client_secret] = at < 0 ? [] : [formDecoded(text.slice(0, at)), formDecoded(text.slice(at + 1))]
  if (!client_id || !client_secret) throw fail('invalid_client', BAD_BASIC)
  const given = (body ?? {}) as Record<string, unknown>
  if (given.client_secret || (given.client_id && given.client_id !== client_id)) {
    throw fail('invalid_request', {
      message: 'The client identified itself in the Authorization header and in the body.',
      fix: 'Use one method: HTTP Basic, or client_id and client_secret in the body.',
    })
  }
  return { client_id, client_secret }
}

const BAD_BASIC = {
  message: 'The Authorization header has no client_id and client_secret.',
  fix: 'Send HTTP Basic with the client_id as name and the client_secret as password, each form-encoded.',
}

const refuseTwoMethods = (): never => {
  throw fail('invalid_request', {
    message: 'The client sent a client_assertion and a client_secret.',
    fix: 'Use one method to authenticate.',
  })
}

const formDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/**
 * Returns true if the Authorization header identifies a client. A Bearer token does not, because many HTTP clients send
 * one with every request. Any other scheme is an authentication method (RFC 6749 §2.3.1).
 */
const identifiesByHeader = ({ headers }: Credentials): boolean =>
  headers.authorization !== undefined && !/^bearer\b/i.test(headers.authorization)

const unidentified = (credentials: Credentials) =>
  fail('invalid_client', {
    message: 'client_id or client_secret is missing from the body.',
    fix:
      credentials.headers.authorization !== undefined
        ? 'Send client_id and client_secret as body fields (client_secret_post), without an Authorization header.'
        : inAddress(credentials)
          ? 'Send client_id and client_secret as body fields, never in the address, and rotate a secret that was in the address.'
          : 'Send client_id and the current client_secret as body fields.',
  })

const refuseSecondIdentity = (credentials: Credentials): void => {
  if (!identifiesByHeader(credentials)) return
  throw fail('invalid_request', {
    message: 'The client identified itself in the Authorization header and in the body.',
    fix: 'Omit the Authorization header and send client_id and client_secret only in the body.',
  })
}

/** Parameters that the token, revocation and introspection endpoints read. */
const IN_BODY = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'redirect_uri',
  'refresh_token',
  'token',
  'token_type_hint',
])

const inAddress = ({ query }: Credentials): string | undefined => query.find(([name]) => IN_BODY.has(name))?.[0]

/**
 * Rejects credentials in the address, because addresses end up in logs (RFC 6749 §2.3.1 and §3.2, RFC 7009 §2.1, RFC
 * 7662 §2.1).
 */
const refuseAddress = (credentials: Credentials): void => {
  const misplaced = inAddress(credentials)
  if (misplaced === undefined) return
  throw fail('invalid_request', {
    message: `${misplaced} was sent in the address.`,
    fix: `Send ${misplaced} in the body, and replace any credential that the address disclosed.`,
  })
}
