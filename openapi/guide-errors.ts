import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'
import { RUN_ERRORS, type RunErrorCode, runErrorText } from '#shared/kernel/run-errors.ts'
import { formatLimit } from './guide-limits.ts'

/** Contents of `error.details`, for the codes that have any (contract/errors.md#details). */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: '`required_scope` and `granted_scopes`',
  invalid_grant: '`expected` and `received`, if the `redirect_uri` doesn’t match',
  confirmation_required: '`confirm_with`: `passkey`, `password`, or `sign_in` (sign in again)',
  tool_denied: '`reason`: `platform`, `organization`, `installation` or `agent_policy`, from strongest to weakest',
  budget_exceeded: '`budget_id`, `measure`, `limit`, `period` and `resets_at`',
  validation_error: '`fields`: a list of problems for each invalid field',
  unauthorized: '`passkey`, if one was presented: `wrong`, `unknown`, `unverified_user` or `counter`',
  invalid_config: '`fields`: a list of problems for each invalid setting',
  invalid_arguments: '`fields`: a list of problems for each invalid argument',
  invalid_manifest: '`errors`: a list of `path` (JSON Pointer), `message` and `fix`',
  review_requirements_missing: '`missing`: the names of the missing requirements',
  unknown_agent: '`available`: slugs and names of the agents you can call',
  rate_limited: '`limit_scope`: [what shares the limit](limits.md#limit-scopes)',
  llm_error: '`body`: the model provider’s response',
}

/** The most common cause of each code. */
const COMMON_CAUSES: Readonly<Record<ErrorCode, string>> = {
  unauthorized: `The access token is older than ${formatLimit('accessTokenLife')}, the app’s client secret was rotated, or the customer revoked the grant. If the grant was revoked, refreshing fails as well.`,
  invalid_client: '`client_id` and `client_secret` were sent in an `Authorization` header instead of the body.',
  invalid_request: '`code_challenge` or `code_verifier` is missing. PKCE is required.',
  invalid_grant:
    'The code was exchanged twice, or an old refresh token was used after it had been replaced, which revokes the whole chain.',
  invalid_redirect_uri:
    'The address has a trailing slash, another port, or `http` instead of `https`. Addresses are compared character for character.',
  expired_consent_link: 'The customer opened an old message, or used a link twice.',
  insufficient_scope: 'The app requested fewer scopes than it needs, or the customer deselected one.',
  not_found:
    'The ID belongs to another installation or workspace. The response is the same as for an ID that doesn’t exist.',
  validation_error: 'A field name is misspelled. Unknown fields are refused.',
  idempotency_key_reused:
    'A key is generated once per process instead of once per request, or a timestamp in the body changes between attempts.',
  conflict:
    'A request with the same `Idempotency-Key` is still in progress. In that case, `Retry-After` says when to try again.',
  run_already_finished: 'The run was cancelled, or its agent has already answered, while a worker was still reporting.',
  step_write_conflict: `Steps were sent in parallel. Omit \`seq\`, or send up to ${formatLimit('stepsPerCall')} steps in one call.`,
  budget_exceeded: 'Admins of the workspace set a budget, and this month’s or today’s share is used up.',
  too_many_active_runs: 'Runs that are waiting for an approval also count as active.',
  blocked_target: 'The host name resolves to a private address, or the address uses `http`.',
  unsupported_media_type:
    'The `Content-Type` header is missing. `curl -d` sends a form unless you set `application/json`.',
  agent_unreachable: `The endpoint isn’t publicly reachable, its certificate is invalid, or it took longer than ${formatLimit('agentAnswer')}.`,
  no_manifest: 'The app exists, but no version has been published.',
  app_not_approved:
    'The workspace belongs to a customer. Only sandbox workspaces can install an app that isn’t approved.',
  disposable_token_readonly: 'A page in an iframe tried to write with its surface token.',
  bad_request: 'The body isn’t valid JSON, or a header or query parameter can’t be read.',
  invalid_scope: 'A scope is misspelled, or separated by commas instead of spaces.',
  invalid_target: 'A library sends `resource` with the address of the platform instead of that of its API.',
  unsupported_grant_type:
    'The client asks for `client_credentials` or `password`. Apps act for a workspace that consented.',
  unsupported_response_type: 'The client uses the implicit flow (`response_type=token`).',
  forbidden: 'The person’s role isn’t enough, or the record belongs to somebody else’s chat.',
  scope_denied_by_admin:
    'The customer consented, but an admin of the workspace has since banned the scope for all apps. Asking for consent again doesn’t help.',
  tool_denied: 'An admin banned the tool in the workspace, or the owner did for this installation.',
  app_suspended: 'A superadmin of the platform stopped the app. Its messages with moderation say why.',
  installation_suspended: 'The workspace is suspended or scheduled for deletion.',
  access_withdrawn: 'An admin deleted the app’s grant, or your app revoked its last tokens.',
  admin_required: 'A member tried what only an admin or owner can do.',
  confirmation_required: 'The last confirmation is more than 10 minutes old.',
  passkey_required: 'The operator requires a second factor for this role.',
  not_a_developer: 'The key was rotated, has expired, or is of another platform. A blocked account gets this, too.',
  email_not_verified: 'The code in the e-mail after the registration was never sent back.',
  app_limit_reached: 'Test suites create an app in every run and never delete it.',
  webhook_limit_reached: 'A deployment creates a subscription each time it starts, instead of reusing the one it has.',
  too_many_steps: 'Every token of a model became a step.',
  console_provisioning_disabled: 'A command of the local quickstart was sent to a deployed platform.',
  unknown_agent: 'The agent was uninstalled, or the name is misspelled.',
  method_not_allowed: 'The path is right but the method isn’t, for example PUT instead of PATCH.',
  slug_taken: 'Another app has the slug, or it is the name of another developer’s listed app.',
  version_exists: 'The manifest was changed without a new `version`.',
  approval_already_decided:
    'Two people decided at the same time, or one decided in the messenger and again in the console.',
  marketplace_empty: 'The platform is new, and no app has been approved yet.',
  ambiguous_agent: 'Two installed agents have the same name. Slugs are unique.',
  agent_cannot_take_tasks: 'The agent’s app doesn’t request `tasks:read`, or the customer didn’t grant it.',
  chain_too_deep: 'Agents ask each other in a circle, or pass on what they could answer themselves.',
  chain_budget_exceeded: 'An agent in the chain took longer than expected. The time begins with the first question.',
  payload_too_large: 'A file is sent in the body of a request. Upload it as a file, and send its ID.',
  invalid_manifest:
    'Often `/id`: its first part isn’t your vendor name, or its second part isn’t the app’s slug. Or the endpoint isn’t a public https address.',
  invalid_config: 'A value has another type than the manifest’s `config` says, or isn’t described there.',
  unknown_tool: 'The tool’s name is misspelled, or it is a tool of an agent: those are called with `ask_agent`.',
  tool_not_offered: 'The installed version of the agent is older than the one that has the tool.',
  invalid_arguments: 'A model made the arguments up. Give it the tool’s `input_schema`.',
  review_requirements_missing: 'No test run of the promoted version has succeeded yet.',
  rate_limited: 'Requests are sent in parallel without a limit, or a list is polled instead of using webhooks.',
  unavailable:
    'The platform’s store is slow or throttled for a moment, or all of its capacity for such requests is in use.',
  internal_error: 'A fault of the platform. Its operator has been notified.',
  llm_error: 'The provider is overloaded, or refused the request.',
  mail_not_configured: 'The operator hasn’t set up e-mail. Everything else works.',
  llm_not_configured: 'The operator hasn’t set up a model provider. Agents with an endpoint work.',
}

const GROUPS: [title: string, from: number, to: number][] = [
  ['400: invalid request', 400, 400],
  ['401: invalid credential', 401, 401],
  ['403: not allowed', 403, 403],
  ['404, 405: not found', 404, 405],
  ['409: conflict with the current state', 409, 409],
  ['413, 415, 422: invalid content', 410, 428],
  ['429: too many requests', 429, 429],
  ['5xx: failure of the platform or the agent', 500, 599],
]

const entries = Object.entries(ERRORS) as [ErrorCode, readonly [number, string, string]][]

/** Codes of failed runs that no endpoint answers with. The others are documented once, with both meanings. */
const runOnly = (Object.keys(RUN_ERRORS) as RunErrorCode[]).filter((code) => !(code in ERRORS))

/** Lists every code under its own heading, in short. Every `docs_url` points to one of these headings. */
export const errorList = (): string =>
  [
    ...entries.map(
      ([code, [status, message, fix]]) =>
        `### ${code}\n\n**${status}** ${message} **Common cause:** ${COMMON_CAUSES[code]} **What to do:** ${fix} [More](errors.md#${code})`,
    ),
    ...runOnly.map((code) => {
      const { meaning, fix } = RUN_ERRORS[code]
      const cause = runErrorText(code)?.cause
      const why = cause === undefined ? '' : `**Common cause:** ${cause} `
      return `### ${code}\n\n**Failed run.** ${meaning} ${why}**What to do:** ${fix} [More](errors.md#${code})`
    }),
  ].join('\n\n')

/** Describes in full the codes that only runs have. */
export const runErrorTable = (): string =>
  runOnly.map((code) => [`### ${code}`, ...runErrorLines(code)].join('\n\n')).join('\n\n')

/** Links to every code that the platform gives a failed run. */
export const runErrorLinks = (): string =>
  (Object.keys(RUN_ERRORS) as RunErrorCode[]).map((code) => `[\`${code}\`](#${code})`).join(', ')

const runErrorLines = (code: string, introduction = ''): string[] => {
  const known = runErrorText(code)
  if (!known) return []
  return [
    `${introduction}${known.meaning}`,
    ...(known.cause === undefined ? [] : [`**Common cause:** ${known.cause}`]),
    `**What to do:** ${known.fix}`,
  ]
}

/** Describes every code in full, grouped by status. */
export const errorTable = (): string =>
  GROUPS.flatMap(([title, from, to]) => {
    const group = entries.filter(([, [status]]) => status >= from && status <= to)
    return group.length === 0 ? [] : [`## ${title}`, ...group.map(([code, known]) => errorEntry(code, known))]
  }).join('\n\n')

const errorEntry = (code: ErrorCode, [status, message, fix]: readonly [number, string, string]): string =>
  [
    `### ${code}`,
    `**${status}** ${message}`,
    `**Common cause:** ${COMMON_CAUSES[code]}`,
    `**What to do:** ${fix}`,
    DETAILS[code] && `\`details\` contains ${DETAILS[code]}.`,
    ...runErrorLines(code, '**As the code of a failed run:** '),
  ]
    .filter(Boolean)
    .join('\n\n')
