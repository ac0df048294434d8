import { ERRORS, type ErrorCode } from '../kernel/errors.ts'
import { limitOf } from './guide-limits.ts'

/** What `error.details` holds, for the codes that fill it (specification "Errors", decisions §1, §4, §5). */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: '`required_scope` and `granted_scopes`',
  invalid_grant: '`expected` and `received`, when the `redirect_uri` does not match',
  tool_denied: '`reason`: `platform`, `organization`, `installation` or `agent_policy`, the strongest first',
  validation_error: '`fields`: for each field a list of what is wrong with it',
  invalid_config: '`fields`: for each setting a list of what is wrong with it',
  invalid_arguments: '`fields`: for each argument a list of what is wrong with it',
  invalid_manifest: '`errors`: a list of `path` (JSON Pointer), `message` and `fix`',
  review_requirements_missing: '`missing`: the names of what lacks',
  unknown_agent: '`available`: slug and name of the agents that may be asked',
  rate_limited: '`limit_scope`: `installation` or `app`',
  llm_error: '`body`: what the model provider answered',
}

/** Usual reasons, for the codes that send people looking in the wrong place. */
const OFTEN: Partial<Record<ErrorCode, string>> = {
  unauthorized: `The access token is older than ${limitOf('accessTokenLife')}, the app’s client secret was rotated, or the customer took the grant back: then refreshing fails, too.`,
  invalid_client: '`client_id` and `client_secret` went into an `Authorization` header instead of the body.',
  invalid_request: '`code_challenge` or `code_verifier` is missing: PKCE is not optional.',
  invalid_grant:
    'The code was exchanged twice, or an older refresh token was presented after the pair was replaced, which ends the whole chain.',
  invalid_redirect_uri:
    'A slash at the end, another port, or `http` for `https`: addresses are compared character for character.',
  expired_consent_link: 'Somebody opened an old message. Links cannot be used twice.',
  insufficient_scope: 'The app asked for fewer scopes than it needs, or the customer unticked one.',
  not_found: 'The id belongs to another installation or workspace: that is answered just as an id that does not exist.',
  validation_error: 'A field is misspelt: fields that an operation does not know are refused.',
  idempotency_key_reused:
    'A key is made per process instead of per request, or a time in the body changes between tries.',
  conflict: 'The same `Idempotency-Key` is still at work: then `Retry-After` says when to ask again.',
  run_already_finished: 'The run was cancelled, or its agent answered already, while a worker still reported.',
  step_write_conflict: `Steps are sent in parallel. Leave \`seq\` out, or send up to ${limitOf('stepsPerCall')} in one call.`,
  too_many_active_runs: 'Runs that wait for an approval are active, too.',
  blocked_target: 'The name resolves to a private address, or the address is `http`.',
  unsupported_media_type: '`Content-Type` is missing. `curl -d` sends a form unless you say `application/json`.',
  agent_unreachable: `The endpoint cannot be reached from outside, its certificate is not valid, or it took longer than ${limitOf('agentAnswer')}.`,
  no_manifest: 'The app was created, but no version has been published.',
  app_not_approved: 'The workspace is a customer’s. In sandbox workspaces approval is not needed.',
  disposable_token_readonly: 'A page in an iframe writes with the surface token that it was given.',
}

const GROUPS: [title: string, from: number, to: number][] = [
  ['400: the request is wrong', 400, 400],
  ['401: the credential is wrong', 401, 401],
  ['403: not allowed', 403, 403],
  ['404, 405: nothing here', 404, 405],
  ['409: not in this state', 409, 409],
  ['413, 415, 422: the content is wrong', 410, 428],
  ['429: too often', 429, 429],
  ['5xx: on our side, or the agent’s', 500, 599],
]

const entries = Object.entries(ERRORS) as [ErrorCode, readonly [number, string, string]][]

/** Every code with a heading of its own, short. `error.docs_url` points there. */
export const errorList = (): string =>
  entries
    .map(
      ([code, [status, message, fix]]) =>
        `### ${code}\n\n**${status}** ${message} **What to do:** ${fix} [More](errors.md#${code})`,
    )
    .join('\n\n')

/** Every code by status, with all that is known of it. */
export const errorTable = (): string =>
  GROUPS.flatMap(([title, from, to]) => {
    const group = entries.filter(([, [status]]) => status >= from && status <= to)
    return group.length === 0 ? [] : [`## ${title}`, ...group.map(([code, known]) => one(code, known))]
  }).join('\n\n')

const one = (code: ErrorCode, [status, message, fix]: readonly [number, string, string]): string =>
  [
    `### ${code}`,
    `**${status}** ${message}`,
    OFTEN[code] && `**Often:** ${OFTEN[code]}`,
    `**What to do:** ${fix}`,
    DETAILS[code] && `\`details\` has ${DETAILS[code]}.`,
  ]
    .filter(Boolean)
    .join('\n\n')
