import type { ErrorCode, PlatformError } from './errors.ts'

/** Codes of the platform that clients of the second issuer get under another name (RFC 6749 §4.1.2.1 and §5.2). */
const STANDARD: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'invalid_request',
  invalid_client: 'invalid_client',
  invalid_grant: 'invalid_grant',
  invalid_scope: 'invalid_scope',
  invalid_target: 'invalid_target',
  insufficient_scope: 'invalid_scope',
  unsupported_grant_type: 'unsupported_grant_type',
  unsupported_response_type: 'unsupported_response_type',
  app_suspended: 'unauthorized_client',
  app_not_approved: 'unauthorized_client',
  installation_suspended: 'invalid_grant',
  rate_limited: 'temporarily_unavailable',
  internal_error: 'server_error',
}

/** Codes of the platform that a registration gets under another name (RFC 7591 §3.2.2). */
const REGISTRATION: Partial<Record<ErrorCode, string>> = {
  ...STANDARD,
  validation_error: 'invalid_client_metadata',
  bad_request: 'invalid_client_metadata',
  unsupported_media_type: 'invalid_client_metadata',
  payload_too_large: 'invalid_client_metadata',
  invalid_redirect_uri: 'invalid_redirect_uri',
}

/** Returns the parameters of an OAuth error. Descriptions are ASCII without quotes or backslashes (RFC 6749 §5.2). */
export const standardError = (
  error: PlatformError,
  standard: true | 'registration' = true,
): { error: string; error_description: string } => ({
  error: (standard === 'registration' ? REGISTRATION : STANDARD)[error.code] ?? 'invalid_request',
  error_description: `${error.message} ${error.fix}`
    .replaceAll('’', "'")
    .replaceAll('…', '...')
    .replaceAll(/[^\x20-\x7e]|["\\]/g, ''),
})

/** Returns the status of an OAuth error: 401 for a client that isn't authenticated, 400 for other requests. */
export const standardStatus = ({ code, status }: Pick<PlatformError, 'code' | 'status'>): number =>
  code === 'invalid_client' || status === 429 || status >= 500 ? status : 400
