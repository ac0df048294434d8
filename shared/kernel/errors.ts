/**
 * Every error code of the platform, once: HTTP status, what it means and what to do about it.
 * The type {@link ErrorCode}, the OpenAPI responses, the `/docs` anchors and the rendered bodies derive from this table.
 * Source: specification "Errors"; statuses that it does not show: decisions §1.
 */
export const ERRORS = {
  bad_request: [
    400,
    'The request could not be understood.',
    'Correct the request as the message says and send it again.',
  ],
  invalid_request: [
    400,
    'A required OAuth parameter is missing, repeated or malformed.',
    'Send every required parameter exactly once; authorization needs code_challenge (S256), the token request code_verifier.',
  ],
  invalid_grant: [
    400,
    'The authorization code or refresh token is invalid, expired, used, or was issued to another client.',
    'Start the authorization again to obtain a new code; always keep the newest refresh token.',
  ],
  invalid_scope: [400, 'A requested scope does not exist.', 'Use scopes listed by GET /oauth/scopes.'],
  invalid_redirect_uri: [
    400,
    'The redirect_uri is not registered for this app.',
    'Send one of the registered redirect_uris character for character, or register this one with PATCH /api/v1/dev/apps/{id}.',
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
    'Start the installation again from the app to get a fresh link.',
  ],
  unauthorized: [
    401,
    'The credential is missing, invalid, expired or revoked.',
    'Send a valid credential; refresh an expired access token with its refresh token.',
  ],
  invalid_client: [
    401,
    'The client_id or client_secret is wrong.',
    'Send the client_id and the current client_secret as body fields; rotate the secret if it was lost.',
  ],
  forbidden: [403, 'This is not allowed.', 'See the message for what is missing.'],
  insufficient_scope: [
    403,
    'The scope was not requested or not granted.',
    'Request the scope in details.required_scope and ask the customer to consent again.',
  ],
  scope_denied_by_admin: [
    403,
    'An admin of the organization forbade this scope.',
    'Ask an admin of the workspace to lift the ban.',
  ],
  tool_denied: [403, 'This tool is banned here.', 'details.reason says who banned it; ask them to allow it.'],
  app_suspended: [403, 'The integration is suspended by the platform.', 'Contact the platform’s support.'],
  app_not_approved: [
    403,
    'Moderation has not approved the app, or has delisted it.',
    'Install it in a sandbox workspace, or submit it for review and wait for approval.',
  ],
  installation_suspended: [
    403,
    'The installation is temporarily suspended.',
    'Ask an admin of the workspace, or the platform’s support.',
  ],
  disposable_token_readonly: [
    403,
    'A surface token cannot write.',
    'Use the integration’s access token from your own backend for writes.',
  ],
  admin_required: [403, 'This action needs a higher role.', 'Ask somebody with the role that the message names.'],
  not_a_developer: [
    403,
    'This credential does not belong to an active developer account.',
    'Send X-Developer-Key with the key from POST /api/v1/dev/register.',
  ],
  app_limit_reached: [403, 'The developer account has the maximum number of apps.', 'Reuse or delete an app first.'],
  webhook_limit_reached: [
    403,
    'The installation has the maximum number of webhook subscriptions.',
    'Delete a subscription that is no longer needed.',
  ],
  too_many_steps: [403, 'A run has at most 200 steps.', 'Report fewer, larger steps.'],
  console_provisioning_disabled: [
    403,
    'Sessions cannot be provisioned here.',
    'Sign in through the messaging app; this endpoint works only in local development.',
  ],
  not_found: [404, 'There is nothing here that you can see.', 'Check the id and the path.'],
  unknown_agent: [404, 'No agent has this slug or exact name.', 'Choose one of details.available.'],
  method_not_allowed: [405, 'This path does not take this method.', 'Use one of the methods in the Allow header.'],
  conflict: [409, 'The request conflicts with the present state.', 'Read the current state and decide again.'],
  slug_taken: [409, 'The slug is in use.', 'Choose another slug.'],
  version_exists: [
    409,
    'This manifest version already exists; versions are immutable.',
    'Raise the version in the manifest and publish again.',
  ],
  idempotency_key_reused: [
    409,
    'The Idempotency-Key was used with another body.',
    'Use a new key for a new request, or send the same body.',
  ],
  run_already_finished: [409, 'The run is finished.', 'Start a new run.'],
  too_many_active_runs: [409, 'The installation has 5 active runs.', 'Wait until a run finishes, or cancel one.'],
  approval_already_decided: [409, 'The approval was already decided.', 'Read the run to see the decision.'],
  step_write_conflict: [
    409,
    'Another step was written at the same time or has this seq.',
    'Send the steps of a run one after the other.',
  ],
  no_manifest: [409, 'The app has no manifest yet.', 'Publish one with POST /api/v1/dev/apps/{id}/versions.'],
  marketplace_empty: [409, 'The marketplace has no agents.', 'Have at least one app approved by moderation first.'],
  ambiguous_agent: [409, 'Several agents have this name.', 'Use the slug.'],
  agent_cannot_take_tasks: [409, 'The agent does not hold tasks:read.', 'Choose another agent.'],
  chain_too_deep: [409, 'The chain of agents is limited to depth 3.', 'Answer without asking another agent.'],
  chain_budget_exceeded: [409, 'The chain’s 120 seconds are used up.', 'Start again with less work in one chain.'],
  payload_too_large: [413, 'The request is too large.', 'Send less; the message names the limit.'],
  unsupported_media_type: [415, 'The content type is not supported.', 'Send the content type that the message names.'],
  validation_error: [422, 'The request has invalid fields.', 'Correct the fields listed in details.fields.'],
  invalid_manifest: [422, 'The manifest has errors.', 'Correct every entry of details.errors; each says how.'],
  invalid_config: [
    422,
    'The settings do not match the manifest’s config schema.',
    'Correct the fields listed in details.fields.',
  ],
  blocked_target: [422, 'The address is forbidden.', 'Use a public https address without credentials.'],
  unknown_tool: [422, 'There is no such tool.', 'Use a tool listed by GET /api/v1/tools.'],
  tool_not_offered: [422, 'The agent does not offer this tool.', 'Choose a tool from its manifest.'],
  invalid_arguments: [422, 'The arguments do not match the tool’s input schema.', 'Correct details.fields.'],
  review_requirements_missing: [
    422,
    'The app lacks what moderation needs.',
    'Provide everything listed in details.missing and submit again.',
  ],
  rate_limited: [429, 'Too many requests.', 'Wait as long as Retry-After says, then send the request again.'],
  internal_error: [
    500,
    'Something went wrong on our side.',
    'Try again with the same Idempotency-Key; report the request_id if it persists.',
  ],
  agent_unreachable: [502, 'The agent did not answer.', 'Check the endpoint in the manifest and its logs.'],
  llm_error: [502, 'The model provider answered with an error.', 'See details.body; try again later.'],
  llm_not_configured: [
    503,
    'No language model is configured.',
    'An operator must set the model provider’s address and key.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string, fix: string]>

/** A stable code that clients match on. */
export type ErrorCode = keyof typeof ERRORS

/** What a thrower may add to a code. `message` and `fix` replace the table's general words by those for the case. */
export interface ErrorInfo {
  message?: string | undefined
  fix?: string | undefined
  details?: Record<string, unknown> | undefined
  headers?: Record<string, string> | undefined
  /** Overrides the table's status: `agent_unreachable` is 504 when it timed out (decisions §1). */
  status?: number | undefined
  /** For logs only; never shown. */
  cause?: unknown
}

/** An error whose every public part is meant for the client. Anything else that is thrown becomes `internal_error`. */
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

/** Shorthand: `throw fail('not_found')`. */
export const fail = (code: ErrorCode, info?: ErrorInfo): PlatformError => new PlatformError(code, info)
