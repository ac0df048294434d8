import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Api, ApiError } from '../api.ts'
import { PROJECT_FILE } from '../app.ts'
import { type Command, type Invocation, textOf, UsageError } from '../command.ts'
import { setInEnvFile } from '../env-file.ts'
import { filesOf, ignoredBy, type Language, startOf } from '../project/templates.ts'
import { version } from '../version.ts'
import { newApp } from './apps.ts'

export const init: Command = {
  name: 'init',
  usage: 'init [<folder>] --ts|--py',
  summary: 'Begin an agent: an app, its manifest and code that runs',
  help: `Creates an app and writes a small agent for it: the manifest (agent.json), code, the app’s ID (aip.json) and its secrets
(.env, which only you can read and git ignores). Existing files are never replaced.

  <folder>            created if needed; default: the current one
  --ts, --py          TypeScript or Python
  --slug <slug>       the app’s address in the marketplace; default: the folder’s name
  --name <name>       its name; default: from the slug
  --vendor <name>     claims your vendor name, the first part of your manifests’ ids; it can’t be changed
  --endpoint <url>    where the agent will be reachable; default: a placeholder, which is enough for aip listen
  --app <id or slug>  uses an app that you have; its secrets stay as they are
  --json              print {"app_id", "slug", "folder", "files"}

Examples:
  aip init greeter --ts
  aip init --py --slug stock-helper --vendor acme`,
  options: {
    ts: { type: 'boolean' },
    py: { type: 'boolean' },
    slug: { type: 'string' },
    name: { type: 'string' },
    vendor: { type: 'string' },
    endpoint: { type: 'string' },
    app: { type: 'string' },
  },
  positionals: [0, 1],
  async run(invocation) {
    const { values, positionals, out } = invocation
    if ((values.ts === true) === (values.py === true)) throw new UsageError('Choose --ts or --py.', 'init')
    const language: Language = values.ts === true ? 'ts' : 'py'
    const folder = path.resolve(positionals[0] ?? '.')
    const api = invocation.api()
    const done = out.progress('Creating the app')
    try {
      const slug = textOf(values.slug) ?? textOf(values.app) ?? slugOf(path.basename(folder))
      refuseExisting(folder, Object.keys(filesOf(language, { ...NOTHING, slug })))
      const vendor = await vendorFor(api, textOf(values.vendor))
      const name = textOf(values.name) ?? titleOf(slug)
      const app = await appFor(api, invocation, slug, name)
      const endpoint = textOf(values.endpoint) ?? 'https://agent.example.com/run'
      const summary = 'Greets people by name.'
      const files = filesOf(language, { slug: app.slug, vendor, name: app.name, summary, endpoint, version: version() })
      mkdirSync(folder, { recursive: true })
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text, { flag: 'wx' })
      ignoreInGit(folder, ignoredBy(language))
      const project = { app_id: app.id, base_url: api.baseUrl }
      writeFileSync(path.join(folder, PROJECT_FILE), `${JSON.stringify(project, null, 2)}\n`)
      const { client_id, client_secret, signing_secret } = app
      setInEnvFile(path.join(folder, '.env'), {
        CLIENT_ID: client_id,
        ...(client_secret !== undefined && { CLIENT_SECRET: client_secret }),
        ...(signing_secret !== undefined && { SIGNING_SECRET: signing_secret }),
      })
      done()
      const written = [...Object.keys(files), PROJECT_FILE, '.env', '.gitignore']
      const shown = { app_id: app.id, slug: app.slug, folder, files: written }
      out.result(shown, `${out.paint('green', 'created')} ${app.slug} ${app.id}\n  ${written.join(', ')}`)
      out.note(nextSteps(language, positionals[0], signing_secret === undefined))
      return 0
    } finally {
      done()
    }
  },
}

const NOTHING = { vendor: '', name: '', summary: '', endpoint: '', version: '' }

const nextSteps = (language: Language, folder: string | undefined, lacksSecret: boolean): string =>
  [
    'Next:',
    ...(folder === undefined ? [] : [`  cd ${folder}`]),
    ...(lacksSecret ? ['  aip secrets rotate signing --save .env'] : []),
    ...startOf(language).map((command) => `  ${command}`),
    'and in a second terminal:',
    '  aip publish',
    '  aip listen --forward-to 127.0.0.1:8080',
    'and in a third:',
    `  aip test-run --follow --input '{"name": "Ada"}'`,
  ].join('\n')

/** @throws {UsageError} */
const refuseExisting = (folder: string, files: readonly string[]): void => {
  const existing = [...files, PROJECT_FILE].filter((file) => existsSync(path.join(folder, file)))
  if (existing.length === 0) return
  throw new UsageError(`${folder} already has ${existing.join(', ')}. Choose another folder.`, 'init')
}

/** Adds lines to the folder's `.gitignore` that it doesn't have. */
const ignoreInGit = (folder: string, lines: readonly string[]): void => {
  const file = path.join(folder, '.gitignore')
  const known = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const added = lines.filter((line) => !known.split('\n').includes(line))
  const gap = known === '' || known.endsWith('\n') ? '' : '\n'
  if (added.length > 0) writeFileSync(file, `${known}${gap}${added.join('\n')}\n`)
}

/** Returns the first part of the manifest's id. Claims it only if the developer asks for that. */
const vendorFor = async (api: Api, wanted: string | undefined): Promise<string> => {
  if (wanted !== undefined) {
    return (await api.insist('POST', '/api/v1/dev/me/vendor', { body: { vendor: wanted } })).vendor
  }
  const { vendor, company, name } = await api.insist('GET', '/api/v1/dev/me')
  return vendor ?? slugOf(company ?? name)
}

interface MadeApp {
  id: string
  slug: string
  name: string
  client_id: string
  client_secret?: string
  signing_secret?: string
}

const appFor = async (api: Api, { values }: Invocation, slug: string, name: string): Promise<MadeApp> => {
  const existing = textOf(values.app)
  if (existing === undefined) {
    return api.insist('POST', '/api/v1/dev/apps', { body: newApp(slug, { name, summary: 'Greets people by name.' }) })
  }
  const { items } = (await api.insist('GET', '/api/v1/dev/apps?limit=100')) as { items: MadeApp[] }
  const found = items.find(({ id, slug: known }) => id === existing || known === existing)
  if (found) return found
  throw new ApiError(404, {
    code: 'not_found',
    message: `You don’t have an app ${JSON.stringify(existing)}.`,
    fix: 'Run aip apps to list yours, or leave --app out to create one.',
  })
}

/** Makes a text usable as a slug or vendor name. */
const slugOf = (text: string): string => {
  const slug = text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '')
  return slug.length < 2 ? `my-${slug || 'agent'}` : slug
}

const titleOf = (slug: string): string => {
  const words = slug.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
