import { ERRORS, type ErrorCode } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'

/** What `/docs` tells of an error code. */
export interface DocumentedError {
  status: number
  message: string
  fix: string
}

/** The table of errors in the form that {@link errorsSection} takes. */
export const documentedErrors = (): Record<string, DocumentedError> =>
  Object.fromEntries(Object.entries(ERRORS).map(([code, [status, message, fix]]) => [code, { status, message, fix }]))

/** Text for HTML's content and quoted attributes. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** What `error.details` holds, for the codes that fill it (specification "Errors", decisions §1, §4, §5). */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: 'required_scope and granted_scopes',
  invalid_grant: 'expected and received, when the redirect_uri does not match',
  tool_denied: 'reason: platform, organization, installation or agent_policy, the strongest first',
  validation_error: 'fields: for each field a list of what is wrong with it',
  invalid_config: 'fields: for each setting a list of what is wrong with it',
  invalid_arguments: 'fields: for each argument a list of what is wrong with it',
  invalid_manifest: 'errors: a list of path (JSON Pointer), message and fix',
  review_requirements_missing: 'missing: the names of what lacks',
  unknown_agent: 'available: slug and name of the agents that may be asked',
  rate_limited: 'limit_scope: installation or app',
  llm_error: 'body: what the model provider answered',
}

const GROUPS: [title: string, from: number, to: number][] = [
  ['400: the request is wrong', 400, 400],
  ['401: the credential is wrong', 401, 401],
  ['403: not allowed', 403, 403],
  ['404, 405: nothing here', 404, 405],
  ['409: not in this state', 409, 409],
  ['413, 415, 422: the content is wrong', 410, 422],
  ['429: too often', 429, 429],
  ['5xx: on our side, or the agent’s', 500, 599],
]

const errorEntry = (code: string, { status, message, fix }: DocumentedError): string => {
  const details = DETAILS[code as ErrorCode]
  return `<div class="error" id="${escaped(code)}">
<h4><code>${escaped(code)}</code> <span class="status">${status}</span></h4>
<p>${escaped(message)}</p>
<p><strong>What to do:</strong> ${escaped(fix)}</p>${details === undefined ? '' : `\n<p><code>details</code> has ${escaped(details)}.</p>`}
</div>`
}

/** Every error with an element whose id is its code: `error.docs_url` points there. */
export const errorsSection = (errors: Readonly<Record<string, DocumentedError>>): string => {
  const groups = GROUPS.map(([title, from, to]) => {
    const entries = Object.entries(errors).filter(([, { status }]) => status >= from && status <= to)
    return entries.length === 0
      ? ''
      : `<h3>${escaped(title)}</h3>\n${entries.map(([code, error]) => errorEntry(code, error)).join('\n')}`
  })
  return `<section id="errors" aria-labelledby="errors-title">
<h2 id="errors-title">Errors</h2>
<p>Every error has the same body. Match on <code>code</code>, which is stable; the texts may change.</p>
<pre><code>${escaped(
    JSON.stringify(
      {
        error: {
          code: 'insufficient_scope',
          message: 'The scope was not requested or not granted.',
          fix: 'Request the scope in details.required_scope and ask the customer to consent again.',
          docs_url: 'https://…/docs#insufficient_scope',
          request_id: 'req_01jd4y8m0c5w6r7t8v9x0z1a2b',
          details: { required_scope: 'runs:write', granted_scopes: ['runs:read'] },
        },
      },
      null,
      2,
    ),
  )}</code></pre>
<p><code>request_id</code> equals the header <code>X-Request-Id</code>. The gateway in front of the platform answers a few
requests itself: those over its size limit, those it throttles, and those during a fault of its own. They have the same
body, but their request id is the gateway’s and does not begin with <code>req_</code>.</p>
${groups.join('\n')}
</section>`
}

const SECOND = 1_000
const span = (milliseconds: number): string => {
  const units: [number, string][] = [
    [86_400 * SECOND, 'day'],
    [3_600 * SECOND, 'hour'],
    [60 * SECOND, 'minute'],
    [SECOND, 'second'],
  ]
  const [length, name] = units.find(([unit]) => milliseconds >= unit && milliseconds % unit === 0) ?? [1, 'millisecond']
  const count = milliseconds / length
  return `${count.toLocaleString('en')} ${name}${count === 1 ? '' : 's'}`
}

const size = (bytes: number): string => (bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`)
const rate = ({ perSecond, burst }: { perSecond: number; burst: number }): string =>
  `${perSecond} a second, bursts of ${burst}`

/** The limits, from the same constants that the code keeps them by (specification "Limits", decisions §1). */
const limitRows = (): [string, string][] => [
  ['Requests of an installation', rate(LIMITS.installationRate)],
  ['Requests of an app, over all its installations', rate(LIMITS.appRate)],
  ['Requests of a console user, developer or admin', rate(LIMITS.callerRate)],
  ['OAuth requests of a client', rate(LIMITS.clientRate)],
  ['Test runs of a developer account', 'about 6 a minute'],
  ['Agent-to-agent calls of an installation', 'about 30 a minute'],
  ['Agent-to-agent chain', 'depth 3, 120 seconds'],
  ['Active runs of an installation', String(LIMITS.activeRuns)],
  ['Steps of a run', String(LIMITS.stepsPerRun)],
  ['Steps in one call', String(LIMITS.stepsPerCall)],
  ['Page size', `${LIMITS.pageDefault}, at most ${LIMITS.pageMax}`],
  ['Apps of a developer', String(LIMITS.appsPerDeveloper)],
  ['Webhook subscriptions of an installation', String(LIMITS.webhooksPerInstallation)],
  ['Redirect addresses of an app', String(LIMITS.redirectUrisPerApp)],
  ['Tools of a manifest', String(LIMITS.toolsPerManifest)],
  ['Manifest', size(LIMITS.manifestBytes)],
  ['Input and output of a run', `${size(LIMITS.runPayloadBytes)} each`],
  ['Output of a step', `${size(LIMITS.stepOutputBytes)}, ${size(LIMITS.stepOutputsPerRunBytes)} for all of a run`],
  ['Data of an event', size(LIMITS.eventDataBytes)],
  ['Title and description of a task', '300 and 8,000 characters'],
  ['Output of ask_agent', '16,000 characters, then cut'],
  ['Access token', span(LIMITS.accessTokenLife)],
  ['Refresh token', `${span(LIMITS.refreshTokenLife)} unused`],
  ['Callback token', span(LIMITS.callbackTokenLife)],
  ['Surface token', span(LIMITS.surfaceTokenLife)],
  ['Admin token', span(LIMITS.adminTokenLife)],
  ['Authorization code', span(LIMITS.codeLife)],
  ['Consent link', span(LIMITS.consentLife)],
  ['Idempotency key', span(LIMITS.idempotencyLife)],
  ['Events and webhook deliveries are kept', span(LIMITS.eventLife)],
  ['Answer of an agent', span(LIMITS.agentAnswer)],
  ['Answer of a webhook receiver', span(LIMITS.deliveryDeadline)],
  ['Webhook attempts', `6; ${LIMITS.failuresToDisable} failed deliveries in a row disable the subscription`],
  ['Age of a signature', '300 seconds in the reference verifier'],
]

export const limitsSection = (): string => `<section id="limits" aria-labelledby="limits-title">
<h2 id="limits-title">Limits</h2>
<p>Answers to requests with an access token carry <code>X-RateLimit-Limit</code>, <code>X-RateLimit-Remaining</code> and
<code>X-RateLimit-Policy</code> of the bucket with the least left. Over it is <a href="#rate_limited">rate_limited</a> with
<code>Retry-After</code> in seconds.</p>
<table>
<thead><tr><th scope="col">What</th><th scope="col">Limit</th></tr></thead>
<tbody>
${limitRows()
  .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`)
  .join('\n')}
</tbody>
</table>
</section>`

interface Operation {
  summary?: string
  tags?: string[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Every operation of an OpenAPI document by tag: what remains of the reference without JavaScript. */
export const operationsSection = (openapi: { paths?: Record<string, unknown> } | undefined): string => {
  const byTag = new Map<string, string[]>()
  for (const [path, item] of Object.entries(openapi?.paths ?? {}))
    for (const method of METHODS) {
      const operation = (item as Record<string, Operation | undefined>)[method]
      if (operation === undefined) continue
      const tag = operation.tags?.[0] ?? 'Other'
      const line = `<li><code><span class="method">${method.toUpperCase()}</span>${escaped(path)}</code> ${escaped(operation.summary ?? '')}</li>`
      byTag.set(tag, [...(byTag.get(tag) ?? []), line])
    }
  if (byTag.size === 0) return ''
  const groups = [...byTag].map(([tag, lines]) => `<h3>${escaped(tag)}</h3>\n<ul>\n${lines.join('\n')}\n</ul>`)
  return `<section id="operations" aria-labelledby="operations-title">
<h2 id="operations-title">All operations</h2>
${groups.join('\n')}
</section>`
}
