import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Issuer } from '#shared/foundation/tokens/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { covers, isScope, SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { developerBlocked } from '../installations/permissions.ts'
import { checkChallenge, checkState, requireCode, requireParameter } from '../oauth/request-parameters.ts'
import { type Consent, ConsentEntity } from './entity.ts'

/**
 * Handles `GET /oauth/authorize`: checks the request and stores it for 10 minutes. A parameter without a value counts as
 * missing (RFC 6749 §3.1). Unknown parameters are ignored. No error is ever sent to `redirect_uri`
 * (contract/oauth-and-tokens.md#authorization-request).
 * @returns the address of the consent page, with the nonce that identifies the request
 */
export const authorize = async (work: Work, parameters: Record<string, string>): Promise<string> => {
  const target = await loadTarget(work, parameters)
  return storeConsent(work, target, checkRequest(target.app, parameters))
}

/** Receiver of the response, which is known before anything is sent there. */
export interface Target {
  app: App
  redirect_uri: string
}

/** Loads the app of a request and checks its address. Errors here are never sent to that address. */
export const loadTarget = async (work: Work, parameters: Record<string, string>): Promise<Target> => {
  const app = await loadClient(work, requireParameter(parameters, 'client_id'))
  return { app, redirect_uri: checkRedirectUri(app, parameters) }
}

/** @throws `invalid_request` or `invalid_redirect_uri` */
export const checkRedirectUri = (app: App, parameters: Record<string, string>): string => {
  const redirect_uri = requireParameter(parameters, 'redirect_uri')
  if (app.redirect_uris.includes(redirect_uri)) return redirect_uri
  throw fail('invalid_redirect_uri', { details: { received: redirect_uri.slice(0, 2_048) } })
}

type Checked = Pick<Consent, 'scopes' | 'state' | 'code_challenge'>

/** Checks what a request asks for, apart from its client and address. */
export const checkRequest = (app: App, parameters: Record<string, string>): Checked => {
  requireCode(parameters)
  const code_challenge = checkChallenge(parameters)
  const scopes = requestedScopes(app, parameters.scope)
  return { scopes, state: checkState(parameters), code_challenge }
}

/**
 * Stores a request until a person decides on it.
 * @param also further writes of the transaction
 * @returns the address of the consent page
 */
export const storeConsent = async (
  work: Work,
  { app, redirect_uri }: Target,
  checked: Checked,
  issuer?: Issuer,
  also: readonly Write[] = [],
): Promise<string> => {
  const nonce = newSecret()
  const now = work.clock.now()
  await work.commit([
    ConsentEntity.create({
      nonce_hash: sha256(nonce),
      app_id: app.id,
      redirect_uri,
      ...checked,
      ...(issuer && { issuer }),
      created_at: now,
      expires_at: now + LIMITS.consentLife,
    }),
    ...also,
  ])
  return `${work.settings.baseUrl}/oauth/consent?tg=${nonce}`
}

const loadClient = async ({ table }: Work, clientId: string): Promise<App> => {
  const app = isId('app', clientId) ? await table.get(AppEntity, { id: clientId }) : undefined
  if (!app) {
    throw fail('invalid_client', {
      message: 'No app has this client_id.',
      fix: 'Send the client_id that POST /api/v1/dev/apps returned.',
    })
  }
  if (app.status === 'suspended') throw fail('app_suspended')
  if (app.developer_blocked) throw developerBlocked()
  return app
}

/**
 * Returns the requested scopes in the order of the scope table. Without any, returns all scopes that the app requests.
 * Only spaces separate scopes (RFC 6749 §3.3). Other whitespace is part of a name, which is then unknown.
 */
const requestedScopes = (app: App, text = ''): Scope[] => {
  const named = text.split(' ').filter(Boolean)
  const asked = named.length > 0 ? named : app.requested_scopes
  const unknown = asked.find((scope) => !isScope(scope))
  if (unknown !== undefined) {
    throw fail('invalid_scope', {
      message: `Unknown scope ${JSON.stringify(unknown.slice(0, 60))}.`,
      details: { received: unknown.slice(0, 200) },
    })
  }
  const outside = (asked as Scope[]).find((scope) => !covers(app.requested_scopes, scope))
  if (outside !== undefined) {
    throw fail('insufficient_scope', {
      message: `The app doesn’t request the scope ${outside}.`,
      fix: 'Request fewer scopes, or add this one to requested_scopes with PATCH /api/v1/dev/apps/{id}.',
      details: { required_scope: outside, granted_scopes: app.requested_scopes },
    })
  }
  return SCOPE_NAMES.filter((scope) => asked.includes(scope))
}
