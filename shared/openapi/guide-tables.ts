import { EVENTS } from '../events/catalogue.ts'
import type { LIMITS } from '../kernel/limits.ts'
import { SCOPES } from '../kernel/scopes.ts'
import { RETRY_DELAYS } from '../kernel/settings.ts'
import { errorList, errorTable } from './guide-errors.ts'
import { limitOf, limitRows, retrySchedule } from './guide-limits.ts'

const table = (head: string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** What a guide may ask for as `<!-- name -->`, in Markdown. */
const PARTS: Readonly<Record<string, () => string>> = {
  'list:errors': errorList,
  'list:places': () => PLACES.map(([id, title, to]) => `- <span id="${id}">[${title}](${to})</span>`).join('\n'),
  'table:errors': errorTable,
  'table:events': () =>
    table(
      ['Type', 'When'],
      Object.entries(EVENTS)
        .filter(([, { audience }]) => audience !== 'internal')
        .map(([type, { when }]) => [`\`${type}\``, when]),
    ),
  'table:limits': () => table(['What', 'Limit'], limitRows()),
  'table:scopes': () =>
    table(
      ['Scope', 'Allows to', 'Dangerous'],
      Object.entries(SCOPES).map(([scope, [allows, dangerous]]) => [`\`${scope}\``, allows, dangerous ? 'yes' : '']),
    ),
  attempts: () => String(RETRY_DELAYS.split(',').length),
  retries: retrySchedule,
}

/** Parts of the documentation by the anchors that `/docs` has had, and links outside may still name. */
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
 * A guide’s Markdown with its parts filled in, and without comments.
 * @param lists what `list:<name>` stands for, beside the parts that every guide can ask for
 * @throws for a part that there is not
 */
export const expanded = (markdown: string, lists: Readonly<Record<string, () => string>>): string =>
  markdown
    .replaceAll(PART, (_, name: string) => {
      const [kind, which = ''] = name.split(':')
      if (kind === 'limit') return limitOf(which as keyof typeof LIMITS)
      const part = PARTS[name] ?? (kind === 'list' ? lists[which] : undefined)
      if (!part) throw new Error(`the guides have no ${name}`)
      return part()
    })
    .replaceAll(COMMENT, '')
