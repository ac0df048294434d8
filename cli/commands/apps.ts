import { APP_OPTION, type App, loadChosenApp } from '../app.ts'
import { type Command, type Invocation, textOf, UsageError } from '../command.ts'
import { indented } from '../output.ts'

interface ListedApp extends App {
  status: string
  promoted_version: string | null
}

const lineOf = ({ id, status, promoted_version, slug }: ListedApp): string => {
  const version = promoted_version === null ? 'no version' : `v${promoted_version}`
  return `${id}  ${status.padEnd(9)}  ${version.padEnd(10)}  ${slug}`
}

export const apps: Command = {
  name: 'apps',
  usage: 'apps',
  summary: 'List your apps',
  help: `Lists your apps with their status and the version that new installations get. apps create, apps update and apps show work on
one app.

  --json              print one app per line

Examples:
  aip apps
  aip apps --json | jq -r 'select(.status == "draft") | .slug'`,
  options: {},
  positionals: 0,
  async run(invocation) {
    const { out } = invocation
    const api = invocation.api()
    out.progress('Listing your apps')
    // One page, because a developer has at most twenty apps.
    const { items } = (await api.insist('GET', '/api/v1/dev/apps?limit=100')) as { items: ListedApp[] }
    for (const app of items) out.result(app, lineOf(app))
    if (items.length === 0) out.note('You don’t have an app yet. Create one with aip init or aip apps create.')
    return 0
  },
}

/** Fields of an app by their options. Lists are separated by commas. */
const FIELDS = {
  name: 'text',
  summary: 'text',
  description: 'text',
  category: 'text',
  'logo-url': 'text',
  'privacy-url': 'text',
  'homepage-url': 'text',
  'install-url': 'text',
  'support-email': 'text',
  'redirect-uris': 'list',
  scopes: 'list',
} as const

const FIELD_OPTIONS = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, { type: 'string' as const }]))

const FIELD_HELP = `  --name <name>, --summary <text>, --description <text>, --category <category>
  --logo-url <url>, --privacy-url <url>, --homepage-url <url>, --install-url <url>
  --support-email <address>
  --redirect-uris <urls>  separated by commas; replaces all
  --scopes <scopes>       requested scopes, separated by commas; replaces all`

const fieldsIn = (values: Invocation['values']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(FIELDS).flatMap(([option, kind]) => {
      const value = values[option]
      if (typeof value !== 'string') return []
      const field = option === 'scopes' ? 'requested_scopes' : option.replaceAll('-', '_')
      return [
        [
          field,
          kind === 'list'
            ? value
                .split(',')
                .map((one) => one.trim())
                .filter(Boolean)
            : value,
        ],
      ]
    }),
  )

/** Default scopes of an app that `apps create` and `init` create. */
const SCOPES = ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke', 'webhooks:manage']

/** Body of a new app. */
export const newApp = (slug: string, fields: Record<string, string | string[]>, type = 'agent') => ({
  slug,
  type,
  name: slug,
  redirect_uris: [],
  requested_scopes: SCOPES,
  ...fields,
})

export const createAppCommand: Command = {
  name: 'apps create',
  usage: 'apps create <slug>',
  summary: 'Create an app',
  help: `Creates an app and prints its secrets, which are shown only once. aip init does this, too, and keeps them in a file.

  <slug>              the app’s address in the marketplace: a-z, 0-9 and -; it can’t be changed
  --type <type>       agent or integration; default: agent
${FIELD_HELP}
  --json              print the app

Examples:
  aip apps create greeter --name Greeter
  aip apps create stock-sync --type integration --redirect-uris https://stock.example/callback`,
  options: { type: { type: 'string' }, ...FIELD_OPTIONS },
  positionals: 1,
  async run(invocation) {
    const { out, values, positionals } = invocation
    const api = invocation.api()
    out.progress('Creating the app')
    const body = newApp(positionals[0] ?? '', fieldsIn(values), textOf(values.type))
    const app = await api.insist('POST', '/api/v1/dev/apps', { body })
    const lines = [
      `${out.paint('green', 'created')} ${app.slug} ${app.id}`,
      `  client_id       ${app.client_id}`,
      `  client_secret   ${app.client_secret}`,
      `  signing_secret  ${app.signing_secret}`,
    ]
    out.result(app, lines.join('\n'))
    out.note('The secrets aren’t shown again.')
    return 0
  },
}

export const updateApp: Command = {
  name: 'apps update',
  usage: 'apps update --<field> <value>',
  summary: 'Change an app, for example before you submit it',
  help: `Changes the given fields. On an approved app, changes of its listing wait for a moderator.

${FIELD_HELP}
${APP_OPTION}
  --json              print the app

Examples:
  aip apps update --summary 'Greets people.' --description 'Give it a name.' --support-email help@example.com
  aip apps update --logo-url https://example.com/logo.png --privacy-url https://example.com/privacy`,
  options: { app: { type: 'string' }, ...FIELD_OPTIONS },
  positionals: 0,
  async run(invocation) {
    const { out, values } = invocation
    const body = fieldsIn(values)
    if (Object.keys(body).length === 0) throw new UsageError('Give at least one field to change.', 'apps update')
    const api = invocation.api()
    out.progress('Changing the app')
    const { id } = await loadChosenApp(invocation, api, 'apps update')
    const app = await api.insist('PATCH', `/api/v1/dev/apps/${id}`, { body })
    out.result(app, `${out.paint('green', 'changed')} ${app.slug}: ${Object.keys(body).join(', ')}`)
    if (app.pending_revision)
      out.note('A moderator has to approve the change. The live listing doesn’t change until then.')
    return 0
  },
}

export const showApp: Command = {
  name: 'apps show',
  usage: 'apps show',
  summary: 'Show one app',
  help: `Shows an app with its status and listing. Secrets aren’t shown.

${APP_OPTION}
  --json              print the app

Examples:
  aip apps show
  aip apps show --app greeter --json | jq .status`,
  options: { app: { type: 'string' } },
  positionals: 0,
  async run(invocation) {
    const { out } = invocation
    const api = invocation.api()
    const { id } = await loadChosenApp(invocation, api, 'apps show')
    const app = await api.insist('GET', `/api/v1/dev/apps/${id}`)
    const facts = Object.entries(app).filter(
      ([name, value]) => name !== 'id' && value !== null && typeof value !== 'object',
    )
    out.result(
      app,
      [lineOf(app), ...facts.map(([name, value]) => `  ${name.padEnd(18)} ${indented(String(value), 21)}`)].join('\n'),
    )
    return 0
  },
}
