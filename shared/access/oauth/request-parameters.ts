import { fail, type PlatformError } from '#shared/kernel/errors.ts'

/** BASE64URL(SHA256(code_verifier)), RFC 7636 §4.2. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const MAX_STATE = 4_096

type Parameters = Readonly<Record<string, string | undefined>>

/** A parameter without a value counts as missing (RFC 6749 §3.1). @throws `invalid_request` */
export const requireParameter = (parameters: Parameters, name: string): string => {
  const value = parameters[name]
  if (!value) throw invalid(`${name} is missing.`, `Send ${name}.`)
  return value
}

/** @throws `unsupported_response_type`; `invalid_request` for another response mode, for which a client would wait forever */
export const requireCode = (parameters: Parameters): void => {
  const responseType = requireParameter(parameters, 'response_type')
  if (responseType !== 'code') {
    throw fail('unsupported_response_type', { details: { expected: 'code', received: responseType.slice(0, 100) } })
  }
  const mode = parameters.response_mode
  if (!mode || mode === 'query') return
  throw invalid('response_mode must be query.', 'Omit response_mode and read the response from the query string.')
}

/** @throws `invalid_request` unless there is an S256 challenge */
export const checkChallenge = (parameters: Parameters): string => {
  const text = requireParameter(parameters, 'code_challenge')
  if (!CHALLENGE.test(text)) {
    throw invalid(
      'code_challenge must be BASE64URL(SHA256(code_verifier)): 43 characters without padding.',
      'Compute the challenge as described in RFC 7636, section 4.2.',
    )
  }
  const method = requireParameter(parameters, 'code_challenge_method')
  if (method !== 'S256') throw invalid('code_challenge_method must be S256.', 'Send code_challenge_method=S256.')
  return text
}

/** @throws `invalid_request` for a state that is too long */
export const checkState = (parameters: Parameters): string | undefined => {
  const state = parameters.state || undefined
  if (state === undefined || state.length <= MAX_STATE) return state
  throw invalid(
    `state has ${state.length} characters; the maximum is ${MAX_STATE}.`,
    'Send a shorter state, and keep the data it refers to on your side.',
  )
}

const invalid = (message: string, fix: string): PlatformError => fail('invalid_request', { message, fix })
