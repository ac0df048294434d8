/**
 * Every error code of the platform with its HTTP status, message and fix.
 * The type {@link ErrorCode}, the OpenAPI responses, the `/docs` anchors and the rendered bodies derive from this table.
 * Source: contract/errors.md#codes.
 */
export const ERRORS = {
  bad_request: [
    400,
    'The request could not be understood.',
    'Correct the request as the message describes and send it again.',
  ],
  invalid_request: [
    400,
    'A required OAuth parameter is missing, repeated or malformed.',
    'Send every required parameter exactly once. Authorization requires code_challenge (S256), and the token request requires code_verifier.',
  ],
  invalid_grant: [
    400,
    'The authorization code or refresh token is invalid, expired, already used, or was issued to another client.',
    'Restart the authorization to get a new code, and always keep the newest refresh token.',
  ],
  invalid_scope: [400, 'A requested scope does not exist.', 'Use scopes listed by GET /oauth/scopes.'],
  invalid_redirect_uri: [
    400,
    'The redirect_uri is not registered for this app.',
    'Send one of the registered redirect_uris exactly as registered, or register this one with PATCH /api/v1/dev/apps/{id}.',
  ],
  invalid_target: [
    400,
    'The requested resource is unknown, or isn’t available to this client.',
    'Omit resource, or send the address of the API: the base address with /api/v1.',
  ],
  unsupported_grant_type: [
    400,
    'This grant type is not supported.',
    'Use grant_type=authorization_code or grant_type=refresh_token.',
  ],
  unsupported_response_type: [400, 'This response type is not supported.', 'Use response_type=code.'],
  expired_consent_link: [
    400,
    'The consent link is older than 10 minutes or was already used.',
    'Restart the installation from the app to get a new link.',
  ],
  unauthorized: [
    401,
    'The credential is missing, invalid, expired or revoked.',
    'Send a valid credential. Refresh an expired access token with its refresh token.',
  ],
  invalid_client: [
    401,
    'The client_id or client_secret is wrong.',
    'Send the client_id and the current client_secret as body fields. Rotate the secret if it was lost.',
  ],
  forbidden: [403, 'You are not allowed to do this.', 'See the message for what is missing.'],
  insufficient_scope: [
    403,
    'A required scope was not requested or not granted.',
    'Request the scope in details.required_scope and ask the customer to approve it.',
  ],
  scope_denied_by_admin: [
    403,
    'An admin of the workspace denied this scope.',
    'Ask an admin of the workspace to allow the scope.',
  ],
  tool_denied: [403, 'This tool is denied here.', 'Ask the party in details.reason to allow the tool.'],
  app_suspended: [403, 'The platform suspended this app.', 'Contact platform support.'],
  app_not_approved: [
    403,
    'The app is not approved by moderation, or was delisted.',
    'Install the app in a sandbox workspace, or submit it for review and wait for approval.',
  ],
  installation_suspended: [
    403,
    'The platform has suspended the installation.',
    'Contact platform support. Only the platform can lift the suspension of an installation.',
  ],
  access_withdrawn: [
    403,
    'The workspace withdrew the app’s access.',
    'Ask an admin of the workspace to connect the app again, or to uninstall it.',
  ],
  disposable_token_readonly: [
    403,
    'A surface token is read-only.',
    'Write from your backend with the installation’s access token.',
  ],
  admin_required: [403, 'This action requires a higher role.', 'Ask a member with the role that the message names.'],
  confirmation_required: [
    403,
    'This action requires a recent confirmation that it’s you.',
    'Confirm with the method in details.confirm_with, then repeat the request.',
  ],
  passkey_required: [
    403,
    'This account must have a passkey before it can do this.',
    'Add a passkey: POST /admin/me/passkeys/options, then POST /admin/me/passkeys.',
  ],
  not_a_developer: [
    403,
    'This credential does not belong to an active developer account.',
    'Send X-Developer-Key with the key from POST /api/v1/dev/register.',
  ],
  email_not_verified: [
    403,
    'Your e-mail address isn’t confirmed yet.',
    'Request a code with POST /api/v1/dev/me/email-proof and send it to …/email-proof/confirm.',
  ],
  app_limit_reached: [403, 'The developer account has the maximum number of apps.', 'Reuse or delete an existing app.'],
  webhook_limit_reached: [
    403,
    'The installation has the maximum number of webhook subscriptions.',
    'Delete a subscription that is no longer needed.',
  ],
  too_many_steps: [403, 'A run can have at most 200 steps.', 'Report fewer, larger steps.'],
  console_provisioning_disabled: [
    403,
    'Console sessions can’t be provisioned in this deployment.',
    'Sign in through the messaging app. This endpoint works only in local development.',
  ],
  not_found: [
    404,
    'Not found, or you don’t have access.',
    'It may have been deleted. Check the address, and that you use the right account or key.',
  ],
  unknown_agent: [404, 'No agent has this slug or exact name.', 'Use one of the agents in details.available.'],
  method_not_allowed: [405, 'This path does not support this method.', 'Use one of the methods in the Allow header.'],
  conflict: [409, 'The request conflicts with the current state.', 'Read the current state and try again.'],
  slug_taken: [409, 'The slug is already taken.', 'Choose another slug.'],
  version_exists: [
    409,
    'This manifest version already exists, and versions are immutable.',
    'Increase the version in the manifest and publish again.',
  ],
  idempotency_key_reused: [
    409,
    'The Idempotency-Key was already used with a different body.',
    'Use a new key for a new request, or send the same body.',
  ],
  run_already_finished: [409, 'The run has already finished.', 'Start a new run.'],
  too_many_active_runs: [
    409,
    'The installation has the maximum of 5 active runs.',
    'Wait for a run to finish, or cancel one.',
  ],
  budget_exceeded: [
    409,
    'A budget of the workspace doesn’t cover another run.',
    'Wait until the budget starts again at details.resets_at, or ask an admin of the workspace to raise it.',
  ],
  approval_already_decided: [409, 'The approval was already decided.', 'Read the run to see the decision.'],
  step_write_conflict: [
    409,
    'Another step was written at the same time, or already has this seq.',
    'Send the steps of a run one after another.',
  ],
  no_manifest: [409, 'The app has no manifest yet.', 'Publish one with POST /api/v1/dev/apps/{id}/versions.'],
  marketplace_empty: [409, 'The marketplace has no agents.', 'Get at least one app approved by moderation first.'],
  ambiguous_agent: [409, 'Several agents have this name.', 'Use the slug.'],
  agent_cannot_take_tasks: [409, 'The agent does not have the scope tasks:read.', 'Choose another agent.'],
  chain_too_deep: [409, 'A chain of agents can be at most 3 deep.', 'Answer without asking another agent.'],
  chain_budget_exceeded: [409, 'The chain exceeded its 120 seconds.', 'Start again with less work in one chain.'],
  payload_too_large: [413, 'The request is too large.', 'Send less than the limit in the message.'],
  unsupported_media_type: [415, 'The content type is not supported.', 'Send the content type named in the message.'],
  validation_error: [422, 'The request has invalid fields.', 'Correct the fields listed in details.fields.'],
  invalid_manifest: [422, 'The manifest has errors.', 'Apply the fix of every entry in details.errors.'],
  invalid_config: [
    422,
    'The configuration does not match the manifest’s config schema.',
    'Correct the fields listed in details.fields.',
  ],
  blocked_target: [422, 'The address is not allowed.', 'Use a public https address without credentials.'],
  unknown_tool: [422, 'This tool does not exist.', 'Use a tool listed by GET /api/v1/tools.'],
  tool_not_offered: [422, 'The agent does not offer this tool.', 'Use a tool from the agent’s manifest.'],
  invalid_arguments: [
    422,
    'The arguments do not match the tool’s input schema.',
    'Correct the fields listed in details.fields.',
  ],
  review_requirements_missing: [
    422,
    'The app does not meet the requirements for review.',
    'Provide everything listed in details.missing and submit again.',
  ],
  rate_limited: [429, 'Too many requests.', 'Wait for the seconds in Retry-After, then send the request again.'],
  internal_error: [
    500,
    'Something went wrong on our side.',
    'Try again with the same Idempotency-Key. If the error persists, report the request_id.',
  ],
  agent_unreachable: [502, 'The agent did not respond.', 'Check the endpoint in the manifest and its logs.'],
  llm_error: [502, 'The model provider returned an error.', 'See details.body and try again later.'],
  unavailable: [
    503,
    'The platform couldn’t read or write its records in time.',
    'Wait for the seconds in Retry-After, then send the request again with the same Idempotency-Key.',
  ],
  mail_not_configured: [
    503,
    'This deployment sends no e-mail.',
    'Ask the operator to set the sender of e-mail (mailFrom).',
  ],
  llm_not_configured: [
    503,
    'No language model is configured.',
    'Ask the operator to set the model provider’s address and key.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string, fix: string]>

/** Stable code that clients match on. */
export type ErrorCode = keyof typeof ERRORS

/** Details that a caller may add to a code. `message` and `fix` replace the table's general texts with specific ones. */
export interface ErrorInfo {
  message?: string | undefined
  fix?: string | undefined
  details?: Record<string, unknown> | undefined
  headers?: Record<string, string> | undefined
  /** Overrides the table's status: `agent_unreachable` is 504 when it timed out (contract/errors.md#codes). */
  status?: number | undefined
  /** For logs only. Never sent to the client. */
  cause?: unknown
}

/** Error whose public fields are sent to the client. Any other thrown value becomes `internal_error`. */
export class PlatformError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fix: string
  readonly details: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, info: ErrorInfo = {}) {
    const [status, message, fix] = ERRORS[code]
    super(info.message ?? message, info.cause === undefined ? undefined : { cause: info.cause })
    this.name = 'PlatformError'
    this.code = code
    this.status = info.status ?? status
    this.fix = info.fix ?? fix
    this.details = info.details ?? {}
    this.headers = info.headers ?? {}
  }
}

/** Creates a {@link PlatformError}, as in `throw fail('not_found')`. */
export const fail = (code: ErrorCode, info?: ErrorInfo): PlatformError => new PlatformError(code, info)
