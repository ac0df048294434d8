import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'
import { RUN_ERRORS, type RunErrorCode, runErrorText } from '#shared/kernel/run-errors.ts'
import { formatLimit } from './guide-limits.ts'

/** Contents of `error.details`, for the codes that have any (contract/errors.md#details). */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: '`required_scope` and `granted_scopes`',
  invalid_grant: '`expected` and `received`, if the `redirect_uri` doesn’t match',
  confirmation_required: '`confirm_with`: `passkey`, `password`, or `sign_in` (sign in again)',
  tool_denied: '`reason`: `platform`, `organization`, `installation` or `agent_policy`, from strongest to weakest',
  validation_error: '`fields`: a list of problems for each invalid field',
  invalid_config: '`fields`: a list of problems for each invalid setting',
  invalid_arguments: '`fields`: a list of problems for each invalid argument',
  invalid_manifest: '`errors`: a list of `path` (JSON Pointer), `message` and `fix`',
  review_requirements_missing: '`missing`: the names of the missing requirements',
  unknown_agent: '`available`: slugs and names of the agents you can call',
  rate_limited: '`limit_scope`: [what shares the limit](limits.md#limit-scopes)',
  llm_error: '`body`: the model provider’s response',
}

/** Common causes, for the codes whose cause is easy to miss. */
const COMMON_CAUSES: Partial<Record<ErrorCode, string>> = {
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
  too_many_active_runs: 'Runs that are waiting for an approval also count as active.',
  blocked_target: 'The host name resolves to a private address, or the address uses `http`.',
  unsupported_media_type:
    'The `Content-Type` header is missing. `curl -d` sends a form unless you set `application/json`.',
  agent_unreachable: `The endpoint isn’t publicly reachable, its certificate is invalid, or it took longer than ${formatLimit('agentAnswer')}.`,
  no_manifest: 'The app exists, but no version has been published.',
  app_not_approved:
    'The workspace belongs to a customer. Only sandbox workspaces can install an app that isn’t approved.',
  disposable_token_readonly: 'A page in an iframe tried to write with its surface token.',
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
        `### ${code}\n\n**${status}** ${message} **What to do:** ${fix} [More](errors.md#${code})`,
    ),
    ...runOnly.map((code) => {
      const { meaning, fix } = RUN_ERRORS[code]
      return `### ${code}\n\n**Failed run.** ${meaning} **What to do:** ${fix} [More](errors.md#${code})`
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
    COMMON_CAUSES[code] && `**Common cause:** ${COMMON_CAUSES[code]}`,
    `**What to do:** ${fix}`,
    DETAILS[code] && `\`details\` contains ${DETAILS[code]}.`,
    ...runErrorLines(code, '**As the code of a failed run:** '),
  ]
    .filter(Boolean)
    .join('\n\n')
