import { type App, AppEntity } from '../../entities/apps.ts'
import { ConsentEntity } from '../../entities/oauth.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { covers, isScope, SCOPE_NAMES, type Scope } from '../../kernel/scopes.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import type { Work } from '../deps.ts'

/** BASE64URL(SHA256(code_verifier)), RFC 7636 §4.2. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const MAX_STATE = 4_096

/**
 * `GET /oauth/authorize`: checks the request and keeps it for 10 minutes. A parameter without a value counts as missing
 * (RFC 6749 §3.1); unknown ones are ignored. No error is ever sent to `redirect_uri` (specification "OAuth").
 * @returns where the person decides, with the nonce that stands for the request
 */
export const authorize = async (work: Work, parameters: Record<string, string>): Promise<string> => {
  const app = await client(work, need(parameters, 'client_id'))
  const redirect_uri = need(parameters, 'redirect_uri')
  if (!app.redirect_uris.includes(redirect_uri)) {
    throw fail('invalid_redirect_uri', { details: { received: redirect_uri.slice(0, 2_048) } })
  }
  const responseType = need(parameters, 'response_type')
  if (responseType !== 'code') {
    throw fail('unsupported_response_type', { details: { expected: 'code', received: responseType.slice(0, 100) } })
  }
  refuseOtherModes(parameters.response_mode)
  const code_challenge = challenge(parameters)
  const scopes = requested(app, parameters.scope)
  const state = parameters.state || undefined
  if (state !== undefined && state.length > MAX_STATE) {
    throw invalid(
      `state has more than ${MAX_STATE} characters.`,
      'Send a shorter state and keep what it stands for on your side.',
    )
  }
  const nonce = newSecret()
  const now = work.clock.now()
  await work.commit([
    ConsentEntity.create({
      nonce_hash: sha256(nonce),
      app_id: app.id,
      redirect_uri,
      scopes,
      state,
      code_challenge,
      created_at: now,
      expires_at: now + LIMITS.consentLife,
    }),
  ])
  return `${work.settings.baseUrl}/oauth/consent?tg=${nonce}`
}

const client = async ({ table }: Work, clientId: string): Promise<App> => {
  const app = isId('app', clientId) ? await table.get(AppEntity, { id: clientId }) : undefined
  if (!app) {
    throw fail('invalid_client', {
      message: 'There is no app with this client_id.',
      fix: 'Send the client_id that POST /api/v1/dev/apps returned.',
    })
  }
  if (app.status === 'suspended') throw fail('app_suspended')
  return app
}

const challenge = (parameters: Record<string, string>): string => {
  const text = need(parameters, 'code_challenge')
  if (!CHALLENGE.test(text)) {
    throw invalid(
      'code_challenge must be BASE64URL(SHA256(code_verifier)): 43 characters without padding.',
      'Compute the challenge as RFC 7636 section 4.2 says.',
    )
  }
  const method = need(parameters, 'code_challenge_method')
  if (method !== 'S256') throw invalid('code_challenge_method must be S256.', 'Send code_challenge_method=S256.')
  return text
}

/** Who wants the answer in a form or a fragment would wait for it forever, after the person has decided. */
const refuseOtherModes = (mode: string | undefined): void => {
  if (!mode || mode === 'query') return
  throw invalid('response_mode must be query.', 'Leave response_mode out, and read the answer from the query.')
}

/**
 * The scopes asked for, in the table's order; by default, and when only blanks were sent, all that the app may ask for.
 * They are separated by spaces alone (RFC 6749 §3.3): any other whitespace is part of a name, which then is unknown.
 */
const requested = (app: App, text = ''): Scope[] => {
  const named = text.split(' ').filter(Boolean)
  const asked = named.length > 0 ? named : app.requested_scopes
  const unknown = asked.find((scope) => !isScope(scope))
  if (unknown !== undefined) {
    throw fail('invalid_scope', {
      message: `There is no scope ${JSON.stringify(unknown.slice(0, 60))}.`,
      details: { received: unknown.slice(0, 200) },
    })
  }
  const outside = (asked as Scope[]).find((scope) => !covers(app.requested_scopes, scope))
  if (outside !== undefined) {
    throw fail('insufficient_scope', {
      message: `The app has not declared the scope ${outside}.`,
      fix: 'Ask for fewer scopes, or add it to requested_scopes with PATCH /api/v1/dev/apps/{id}.',
      details: { required_scope: outside, granted_scopes: app.requested_scopes },
    })
  }
  return SCOPE_NAMES.filter((scope) => asked.includes(scope))
}

const need = (parameters: Record<string, string>, name: string): string => {
  const value = parameters[name]
  if (!value) throw invalid(`${name} is missing.`, `Send ${name}.`)
  return value
}

const invalid = (message: string, fix: string): PlatformError => fail('invalid_request', { message, fix })
