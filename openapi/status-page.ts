import type { Guide } from './guides.ts'

/** Requests of the status page, all without credentials, and the answers that show that the platform works. */
const CHECKS: readonly { title: string; about: string; path: string; statuses: string }[] = [
  { title: 'Documentation', about: 'These pages', path: 'docs/errors.md', statuses: '200' },
  { title: 'OAuth', about: 'Consent and tokens', path: 'oauth/scopes', statuses: '200' },
  { title: 'Keys', about: 'For verifying tokens and receipts', path: '.well-known/jwks.json', statuses: '200' },
  { title: 'Integration API', about: 'Runs, tools, events and webhooks', path: 'api/v1/me', statuses: '401' },
  { title: 'Developer API', about: 'Apps, versions and test runs', path: 'api/v1/dev/me', statuses: '401' },
  { title: 'Console', about: 'Where customers work and approve', path: 'console/me', statuses: '401' },
]

const row = ({ title, about, path, statuses }: (typeof CHECKS)[number]): string =>
  `<tr data-check="${path}" data-statuses="${statuses}"><th scope="row">${title}</th><td>${about}</td><td class="state">Not checked</td></tr>`

/** The page that checks, from the reader's browser, whether the platform answers. */
export const statusPage = (): Guide => ({
  name: 'status',
  title: 'Status',
  description: 'Whether the platform answers right now, checked from your browser.',
  markdown: `# Status

Your browser checks each part of the platform when you open this page, and every minute while it is open.

<table class="checks">
<thead><tr><th>Part</th><th>What it does</th><th>Now</th></tr></thead>
<tbody>
${CHECKS.map(row).join('\n')}
</tbody>
</table>

<p class="checked" role="status">JavaScript is off, so nothing was checked.</p>

<a data-link="status" href="https://status-url.invalid/">Incidents and maintenance</a>

## If a part doesn’t answer

- Send the request again after a second, then after 2, 4 and 8. Keep the \`Idempotency-Key\`
  ([Requests](requests.md#repeating-a-request-safely)).
- Runs in progress, webhooks and their retries continue when the API is back. Events that you missed are in
  [\`GET /api/v1/events\`](webhooks.md#recover-from-downtime).
- If only your own network is affected, the check from another network succeeds.

## If a part works, but your agent doesn’t

A run that failed says why in its \`error\`, with a link to the [entry of its code](errors.md#codes-of-failed-runs). Deliveries
of a webhook show your receiver’s answers ([Receive webhooks](webhooks.md#recover-from-downtime)).
`,
})
