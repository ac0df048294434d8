import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Api, ApiError } from '../api.ts'
import { PROJECT_FILE } from '../app.ts'
import { type Command, type Invocation, textOf, UsageError } from '../command.ts'
import { setInEnvFile } from '../env-file.ts'
import { filesOf, ignoredBy, type Kind, RUNS_TYPESCRIPT, startOf } from '../project/templates.ts'
import { packageScope, version } from '../version.ts'
import { newApp } from './apps.ts'

export const init: Command = {
  name: 'init',
  usage: 'init [<folder>] --ts|--py|--a2a',
  summary: 'Begin an agent: an app, its manifest and code that runs',
  help: `Creates an app and writes a small agent for it: the manifest (agent.json), code, the app’s ID (aip.json) and its secrets
(.env, which only you can read and git ignores). Existing files are never replaced.

  <folder>            created if needed; default: the current one
  --ts, --py          TypeScript (which runs on Node 22.18 or later) or Python
  --a2a               an agent of the Agent2Agent protocol, in TypeScript: the platform knows it by its card
  --slug <slug>       the app’s address in the marketplace; default: the folder’s name
  --name <name>       its name; default: from the slug
  --vendor <name>     claims your vendor name, the first part of your manifests’ ids; it can’t be changed
  --endpoint <url>    where the agent will be reachable; default: a placeholder, which is enough for aip listen. Of an A2A
                      agent, the address of its server; default on a local platform: http://127.0.0.1:8080
  --app <id or slug>  uses an app that you have; its secrets stay as they are
  --json              print {"app_id", "slug", "folder", "files"}

Examples:
  aip init greeter --ts
  aip init --py --slug stock-helper --vendor acme
  aip init stock-helper --a2a`,
  options: {
    ts: { type: 'boolean' },
    py: { type: 'boolean' },
    a2a: { type: 'boolean' },
    slug: { type: 'string' },
    name: { type: 'string' },
    vendor: { type: 'string' },
    endpoint: { type: 'string' },
    app: { type: 'string' },
  },
  positionals: [0, 1],
  async run(invocation) {
    const { values, positionals, out } = invocation
    const kinds = KINDS.filter((name) => values[name] === true)
    const [kind] = kinds
    if (kind === undefined || kinds.length > 1) throw new UsageError('Choose --ts, --py or --a2a.', 'init')
    requireTypeScript(kind)
    const folder = path.resolve(positionals[0] ?? '.')
    const api = invocation.api()
    out.progress('Creating the app')
    const slug = textOf(values.slug) ?? textOf(values.app) ?? slugOf(path.basename(folder))
    refuseExisting(folder, Object.keys(filesOf(kind, { ...NOTHING, slug })))
    const wheel = kind === 'py' ? await wheelOf(api) : ''
    const vendor = await vendorFor(api, textOf(values.vendor))
    const name = textOf(values.name) ?? titleOf(slug)
    const app = await appFor(api, invocation, slug, name).catch(explainTakenSlug)
    const endpoint = endpointOf(kind, textOf(values.endpoint), api.baseUrl)
    const summary = 'Greets people by name.'
    const files = filesOf(kind, {
      slug: app.slug,
      vendor,
      name: app.name,
      summary,
      endpoint,
      version: version(),
      scope: packageScope(),
      baseUrl: api.baseUrl,
      wheel,
    })
    mkdirSync(folder, { recursive: true })
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text, { flag: 'wx' })
    ignoreInGit(folder, ignoredBy(kind))
    const project = { app_id: app.id, base_url: api.baseUrl }
    writeFileSync(path.join(folder, PROJECT_FILE), `${JSON.stringify(project, null, 2)}\n`)
    const { client_id, client_secret, signing_secret } = app
    setInEnvFile(path.join(folder, '.env'), {
      CLIENT_ID: client_id,
      ...(client_secret !== undefined && { CLIENT_SECRET: client_secret }),
      ...(signing_secret !== undefined && { SIGNING_SECRET: signing_secret }),
    })
    const written = [...Object.keys(files), PROJECT_FILE, '.env', '.gitignore']
    const shown = { app_id: app.id, slug: app.slug, folder, files: written }
    out.result(shown, `${out.paint('green', 'created')} ${app.slug} ${app.id}\n  ${written.join(', ')}`)
    out.note(nextSteps(kind, positionals[0], signing_secret === undefined))
    return 0
  },
}

const NOTHING = {
  vendor: '',
  name: '',
  summary: '',
  endpoint: '',
  version: '',
  scope: '',
  baseUrl: 'https://platform.invalid',
  wheel: '',
}

/** Node runs TypeScript from this version on. @throws {UsageError} */
const requireTypeScript = (kind: Kind): void => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [needed, from] = RUNS_TYPESCRIPT
  if (kind === 'py' || major > needed || (major === needed && minor >= from)) return
  const versions = `Node ${needed}.${from} or later, and this is Node ${process.versions.node}`
  throw new UsageError(`An agent in TypeScript needs ${versions}. Install a newer Node, or choose --py.`, 'init')
}

/** Adds the option that chooses another slug. The API doesn't know it. */
const explainTakenSlug = (error: unknown): never => {
  if (!(error instanceof ApiError) || error.code !== 'slug_taken') throw error
  const { status, code, message, requestId } = error
  const fix = 'Choose another one with --slug.'
  throw new ApiError(status, { code, message, fix, ...(requestId && { request_id: requestId }) })
}

const KINDS = ['ts', 'py', 'a2a'] as const satisfies Kind[]

/** Publishing reads an A2A agent's card, so that a local platform gets the address of the local agent. */
const endpointOf = (kind: Kind, given: string | undefined, baseUrl: string): string => {
  if (kind !== 'a2a') return given ?? 'https://agent.example.com/run'
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(baseUrl).hostname)
  return (given ?? (isLocal ? 'http://127.0.0.1:8080' : 'https://agent.example.com')).replace(/\/+$/, '')
}

const nextSteps = (kind: Kind, folder: string | undefined, lacksSecret: boolean): string => {
  const tryIt = `  aip test-run --follow --input '{"name": "Ada"}'`
  return [
    'Next:',
    ...(folder === undefined ? [] : [`  cd ${folder}`]),
    // Messages of A2A aren't signed with the app's secret.
    ...(lacksSecret && kind !== 'a2a' ? ['  aip secrets rotate signing --save .env'] : []),
    ...startOf(kind).map((command) => `  ${command}`),
    'and in a second terminal:',
    '  aip publish',
    ...(kind === 'a2a' ? [tryIt] : ['  aip listen --forward-to 127.0.0.1:8080', 'and in a third:', tryIt]),
  ].join('\n')
}

/** Returns the address of the SDK for Python, with its hash. */
const wheelOf = async (api: Api): Promise<string> => {
  const { packages } = (await api.insist('GET', '/packages/')) as {
    packages: { kind: string; url: string; sha256: string }[]
  }
  const found = packages.find(({ kind }) => kind === 'python')
  if (!found) throw new UsageError('This platform has no SDK for Python. Choose --ts or --a2a.', 'init')
  return `${found.url}#sha256=${found.sha256}`
}

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
