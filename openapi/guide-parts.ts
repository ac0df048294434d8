import { readFileSync } from 'node:fs'
import { MANIFEST_DOCUMENT } from '#shared/catalogue/manifests/index.ts'
import { EVENTS, scopeOf } from '#shared/delivery/catalogue/index.ts'
import { LIMIT_SCOPES } from '#shared/kernel/limit-scopes.ts'
import type { LIMITS } from '#shared/kernel/limits.ts'
import { PYTHON_NAME } from '#shared/kernel/package-names.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'
import { FUNCTION_SETTINGS } from '#shared/kernel/settings/declared.ts'
import { RETRY_PRESETS } from '#shared/kernel/settings/retry-presets.ts'
import { fieldRows } from './field-tables.ts'
import { errorList, errorTable, runErrorLinks, runErrorTable } from './guide-errors.ts'
import { formatLimit, formatRetrySchedule, limitRows } from './guide-limits.ts'
import { runExecuteBody } from './run-execute.ts'

const table = (head: string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Returns the name of the wheel that is built with these guides. */
const pythonFile = (): string => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return `${PYTHON_NAME.replaceAll('-', '_')}-${version}-py3-none-any.whl`
}

/** Markdown parts that a guide includes with `<!-- name -->`. */
const PARTS: Readonly<Record<string, () => string>> = {
  'list:errors': errorList,
  'list:places': () => PLACES.map(([id, title, to]) => `- <span id="${id}">[${title}](${to})</span>`).join('\n'),
  'table:errors': errorTable,
  'table:runerrors': runErrorTable,
  'list:runerrors': runErrorLinks,
  'table:events': () =>
    table(
      ['Type', 'Scope', 'When'],
      Object.entries(EVENTS)
        .filter(([, { audience }]) => audience !== 'internal')
        .map(([type, { when }]) => [`\`${type}\``, scopeOf(type) ? `\`${scopeOf(type)}\`` : '', when]),
    ),
  'table:limitscopes': () =>
    table(
      ['`limit_scope`', 'What shares the limit'],
      Object.entries(LIMIT_SCOPES).map(([scope, shares]) => [`\`${scope}\``, shares]),
    ),
  'table:limits': () => table(['What', 'Limit'], limitRows()),
  'table:scopes': () =>
    table(
      ['Scope', 'Allows the app to', 'Dangerous'],
      Object.entries(SCOPES).map(([scope, [allows, dangerous]]) => [`\`${scope}\``, allows, dangerous ? 'yes' : '']),
    ),
  'table:manifest': () => table(['Field', 'Type', 'What it is for'], fieldRows(MANIFEST_DOCUMENT, 'required')),
  'table:runexecute': () => table(['Field', 'Type', 'What it is'], fieldRows(runExecuteBody(), 'optional')),
  attempts: () => String(FUNCTION_SETTINGS.webhookRetryDelaysSeconds.default.length),
  'python:file': pythonFile,
  retries: () => formatRetrySchedule(),
  'retries:day': () => formatRetrySchedule(RETRY_PRESETS.day),
}

/** Topics by the anchors that `/docs` used to have, which external links may still use. */
const PLACES: [id: string, title: string, to: string][] = [
  ['authentication', 'Authentication', 'requests.md#authentication'],
  ['requests', 'Requests', 'requests.md'],
  ['idempotency', 'Repeating a request safely', 'requests.md#repeating-a-request-safely'],
  ['pages', 'Pages', 'requests.md#pages'],
  ['webhook-signatures', 'Webhook and run signatures', 'webhooks.md#verify-the-signature'],
  ['errors', 'Errors', 'errors.md'],
  ['limits', 'Limits', 'limits.md'],
  ['versioning', 'Versioning', 'versioning.md'],
  ['operations', 'All operations', '{{base_url}}/docs/reference'],
]

const PART = /<!-- ([a-z]+(?::\w+)?) -->/g
const COMMENT = /^<!--[^>]*-->\n+/gm

/**
 * Fills in the parts of a guide’s Markdown and removes comments.
 * @param lists parts for `list:<name>`, in addition to those that every guide can include
 * @throws for an unknown part
 */
export const expandParts = (markdown: string, lists: Readonly<Record<string, () => string>>): string =>
  markdown
    .replaceAll(PART, (_, name: string) => {
      const [kind, which = ''] = name.split(':')
      if (kind === 'limit') return formatLimit(which as keyof typeof LIMITS)
      const part = PARTS[name] ?? (kind === 'list' ? lists[which] : undefined)
      if (!part) throw new Error(`Unknown part of a guide: ${name}`)
      return part()
    })
    .replaceAll(COMMENT, '')
