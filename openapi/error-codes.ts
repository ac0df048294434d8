import type { DeclaredKind } from '#shared/http/callers.ts'
import { developerRoleFor, type Endpoint, keepsAnswers } from '#shared/http/endpoint.ts'
import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'

/** Error codes of each kind of caller that can occur before the endpoint's handler runs. */
const BY_CALLER: Record<DeclaredKind, readonly ErrorCode[]> = {
  none: [],
  client: ['invalid_client', 'rate_limited'],
  integration: ['unauthorized', 'app_suspended', 'installation_suspended', 'rate_limited'],
  developer: ['unauthorized', 'not_a_developer', 'rate_limited'],
  console: ['unauthorized', 'rate_limited'],
  admin: ['unauthorized', 'rate_limited'],
}

/**
 * Returns every error code that an endpoint can respond with: the codes it declares, and those that follow from its caller,
 * scope, role, parameters, body and method.
 */
export const errorCodesOf = (endpoint: Endpoint): ErrorCode[] => {
  const { caller, scope, role, method, params, list, lenient, whileSuspended } = endpoint
  const codes = new Set<ErrorCode>(['internal_error', ...BY_CALLER[caller], ...endpoint.errors])
  const add = (...more: ErrorCode[]): void => {
    for (const code of more) codes.add(code)
  }
  if (endpoint.anonymous) add('rate_limited')
  if (scope) add('insufficient_scope', 'scope_denied_by_admin')
  if (caller === 'developer' && developerRoleFor(endpoint) !== 'viewer') add('forbidden')
  // In a suspended workspace.
  if (caller === 'console' && method !== 'GET' && !whileSuspended) add('forbidden')
  if (role === 'superadmin' || (role && caller === 'console')) add('admin_required')
  if (caller === 'admin' && !endpoint.whileSigningIn) add('confirmation_required', 'passkey_required')
  if (endpoint.confirms) add('confirmation_required')
  // A surface token can only read, and only the integration API (contract/oauth-and-tokens.md#surface-tokens).
  if (caller === 'integration' && method !== 'GET') add('disposable_token_readonly', 'run_already_finished')
  if (caller === 'console' || caller === 'developer' || caller === 'admin') {
    add(method === 'GET' ? 'insufficient_scope' : 'disposable_token_readonly')
  }
  if (Object.keys(params).length > 0) add('not_found')
  if (method !== 'GET') add('bad_request', 'payload_too_large', 'unsupported_media_type')
  if (endpoint.consumes === 'form') add('invalid_request')
  // Without `lenient`, unknown parameters are refused as well.
  if (!lenient || endpoint.body) add('validation_error')
  if (list === 'page') add('bad_request')
  if (method === 'POST') add('bad_request')
  if (keepsAnswers(endpoint)) add('conflict', 'idempotency_key_reused')
  return [...codes].sort((a, b) => ERRORS[a][0] - ERRORS[b][0] || a.localeCompare(b))
}
