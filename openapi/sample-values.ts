import { EVENTS } from '#shared/delivery/catalogue/index.ts'
import { type IdKind, PREFIXES } from '#shared/kernel/ids.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

/** ULID of every id in the examples. */
const ULID = '01kae5m1v8w6c3x9q2r7t4y0zn'

const sampleId = (kind: IdKind): string => `${PREFIXES[kind]}_${ULID}`

const TIME = '2026-11-21T10:15:30.123+00:00'
const TOKEN = 'eyJhbGciOiJFUzI1NiIs…'

/** Sample values by the `format` of a schema. */
export const BY_FORMAT: Readonly<Record<string, string>> = {
  uri: 'https://agent.example.com/',
  email: 'ada@example.com',
  uuid: '7f1c2a9e-3b0d-4c55-9d0f-0f6f5a1f2b3c',
  date: '2026-11-21',
  'date-time': TIME,
}

/** Sample texts by field name, for schemas without further constraints. */
const TEXTS: Readonly<Record<string, string>> = {
  about: 'We build agents for shops.',
  access_token: TOKEN,
  agent: 'stock-helper',
  allowed_callers: 'stock-helper',
  code: 'code_3q2x8v…',
  code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  comment: 'Only this once.',
  company: 'Example Ltd',
  contact_email: 'legal@example.com',
  content: 'name,phone\nAda,+31 20 555 0100\n',
  content_base64: 'aGVsbG8=',
  content_type: 'text/csv',
  country: 'NL',
  first_name: 'Ada',
  last_name: 'Example',
  workspace_name: 'Example shop',
  description: 'Answers questions about the stock of a shop.',
  email: 'ada@example.com',
  error: 'The connection was refused.',
  error_code: 'stock_unknown',
  error_message: 'The shop has no such product.',
  event_type: 'run.succeeded',
  events: 'run.*',
  fix: 'Correct the field and send the request again.',
  grant_type: 'authorization_code',
  hash: 'c501b71e775f74ce10e377dea85a7ea24ecd640b223ea86dfe453e0eaed2e2b2',
  hint: 'Start the receiver and send the test again.',
  kind: 'message',
  last_error: 'The receiver answered 500.',
  legal_name: 'Example Ltd',
  locale: 'en',
  message: 'How many red mugs are in stock?',
  name: 'Stock helper',
  note: 'Checked twice.',
  path: '/runtime/endpoint',
  platform_name: 'Agent Integration Platform',
  reason: 'The agent doesn’t do what its description says.',
  refresh_token: 'rft_…',
  response_body: 'OK',
  slug: 'stock-helper',
  status: 'active',
  status_reason: 'We are investigating an abuse report.',
  summary: 'Answers questions about the stock of a shop.',
  text: 'There are 12 red mugs in stock.',
  time_zone: 'Europe/Amsterdam',
  title: 'Count the red mugs',
  token: TOKEN,
  token_type: 'Bearer',
  tool: 'check_stock',
  trigger: 'api',
  type: 'message',
  username: 'ada',
  vendor: 'acme',
  version: '1.0.0',
  promoted_version: '1.0.0',
  website: 'https://example.com/',
}

const SECRETS: Readonly<Record<string, string>> = { client_secret: 'cs_…', signing_secret: 'agsec_…' }

/** Sample ids by the name of the enclosing field, for names that don't match a kind of id. */
const OWNERS: Readonly<Record<string, string>> = {
  actor: sampleId('user'),
  agent: 'acme.stock-helper',
  assignee: sampleId('installation'),
  author: sampleId('user'),
  created_by: sampleId('user'),
  owner: sampleId('user'),
}

/** Sample names by the enclosing field, for objects other than agents. */
const NAMES: Readonly<Record<string, string>> = {
  actor: 'Ada',
  author: 'Ada',
  created_by: 'Ada',
  developer: 'Ada Example',
  member: 'Ada',
  owner: 'Ada',
  user: 'Ada',
  attachments: 'report.csv',
  file: 'report.csv',
  folder: 'Reports',
  tools: 'check_stock',
  workspace: 'Example shop',
  sandbox_workspace: 'Sandbox',
  workspaces: 'Example shop',
}

const SCOPES = new Set(['scope', 'scopes', 'granted_scopes', 'requested_scopes', 'denied_scopes', 'required_scope'])
const TOOLS = new Set(['denied_tools', 'tools'])

const kindOf = (name: string): IdKind | undefined => {
  const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.hasOwn(PREFIXES, camel) ? (camel as IdKind) : undefined
}

/** Returns a sample id for fields such as `app_id`, and for `id` inside `app`. */
const idOf = (name: string, parent: string): string | undefined => {
  if (name === 'id') {
    const kind = kindOf(parent) ?? kindOf(parent.replace(/s$/, ''))
    return OWNERS[parent] ?? (kind && sampleId(kind))
  }
  if (name === 'client_id') return sampleId('app')
  if (!/_ids?$/.test(name)) return undefined
  const [, stem] = /^(?:\w+_)?([a-z]+)_ids?$/.exec(name) ?? []
  const kind = kindOf(name.replace(/_ids?$/, '')) ?? (stem === undefined ? undefined : kindOf(stem))
  return kind && sampleId(kind)
}

/**
 * Returns a sample text for a field.
 * @param name name of the field
 * @param parent name of the enclosing field
 */
export const textFor = (name: string, parent: string): string => {
  const id = idOf(name, parent)
  if (id !== undefined) return id
  if (name.endsWith('_at')) return TIME
  if (name.endsWith('_base64')) return TEXTS.content_base64 ?? ''
  if (name === 'name') return NAMES[parent] ?? TEXTS.name ?? ''
  if (name === 'type' && parent === 'event') return Object.keys(EVENTS)[0] ?? ''
  if (SCOPES.has(name)) return SCOPE_NAMES[0]
  if (TOOLS.has(name)) return 'http_fetch'
  if (/(^|_)(url|uri|uris|endpoint|documentation)$/.test(name)) return `https://agent.example.com/${name.split('_')[0]}`
  if (name.endsWith('_secret')) return SECRETS[name] ?? 'shown once'
  const known = TEXTS[name] ?? TEXTS[name.split('_').at(-1) ?? '']
  return known ?? name.replaceAll('_', ' ').trim()
}

const SAMPLE_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Sample texts of path parameters, by the end of the path up to the parameter. */
const PATH_TEXTS: Readonly<Record<string, string>> = {
  'agents/{slug}': 'stock-helper',
  'install/{slug}': 'stock-helper',
  'tools/{name}': 'web_search',
  'examples/{name}': 'agent.ts',
  'tasks/{task}': sampleId('run'),
  'pushNotificationConfigs/{config}': sampleId('run'),
  'versions/{v}': '1.0.0',
  'logos/{file}': 'stock-helper.svg',
  'screenshots/{file}': '1.png',
  'export/{dataset}': 'apps',
  'docs/{page}': 'quickstart',
  'openapi/{document}': 'integration.json',
  'assets/{file}': 'style.css',
  'npm/{name}': '@agent-integration-platform/cli',
  'npm/{scope}': '@agent-integration-platform',
  '{scope}/{name}': 'cli',
  '-/{file}': 'cli-1.0.0.tgz',
  '-/{sha256}': SAMPLE_SHA256,
  'simple/{project}': 'agent-integration-platform',
  'python/{file}': 'agent_integration_platform-1.0.0-py3-none-any.whl',
  'python/{sha256}': SAMPLE_SHA256,
  '{sha256}/{file}': 'cli-1.0.0.tgz',
}

/** Returns a sample text for a path parameter that is no id. @throws if there is none for it */
export const pathText = (path: string, name: string): string => {
  const up = path.slice(0, path.indexOf(`{${name}}`) + name.length + 2)
  const text = PATH_TEXTS[up.split('/').slice(-2).join('/')]
  if (text === undefined) throw new Error(`openapi/sample-values.ts has no sample of {${name}} in ${path}`)
  return text
}
