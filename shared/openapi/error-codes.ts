import type { CallerKind } from '../http/callers.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { ERRORS, type ErrorCode } from '../kernel/errors.ts'

/** What each kind of caller can be answered before the endpoint itself is asked. */
const BY_CALLER: Record<CallerKind, readonly ErrorCode[]> = {
  none: [],
  client: ['invalid_client', 'rate_limited'],
  integration: ['unauthorized', 'app_suspended', 'installation_suspended', 'rate_limited'],
  developer: ['unauthorized', 'not_a_developer', 'rate_limited'],
  console: ['unauthorized', 'rate_limited'],
  admin: ['unauthorized', 'rate_limited'],
}

/**
 * Every code that an endpoint can answer: what it declares, and what follows from who may call it, its scope or role,
 * its parameters, its body and its method.
 */
export const errorCodesOf = (endpoint: Endpoint): ErrorCode[] => {
  const { caller, scope, role, method, params, list, lenient } = endpoint
  const codes = new Set<ErrorCode>(['internal_error', ...BY_CALLER[caller], ...endpoint.errors])
  const add = (...more: ErrorCode[]): void => {
    for (const code of more) codes.add(code)
  }
  if (scope) add('insufficient_scope', 'scope_denied_by_admin')
  if (role === 'superadmin' || (role && caller === 'console')) add('admin_required')
  // A surface token only reads, and only the integration API (decisions §2).
  if (caller === 'integration' && method !== 'GET') add('disposable_token_readonly', 'run_already_finished')
  if (caller === 'console' || caller === 'developer' || caller === 'admin') {
    add(method === 'GET' ? 'insufficient_scope' : 'disposable_token_readonly')
  }
  if (Object.keys(params).length > 0) add('not_found')
  if (method !== 'GET') add('bad_request', 'payload_too_large', 'unsupported_media_type')
  if (endpoint.consumes === 'form') add('invalid_request')
  // Without `lenient` also an unknown parameter is refused.
  if (!lenient || endpoint.body) add('validation_error')
  if (list === 'page') add('bad_request')
  if (method === 'POST') add('bad_request', 'conflict', 'idempotency_key_reused')
  return [...codes].sort((one, other) => ERRORS[one][0] - ERRORS[other][0] || one.localeCompare(other))
}
