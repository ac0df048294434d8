import { randomBytes } from 'node:crypto'
import type { Receiver } from '#testkit/receiver.ts'

// biome-ignore lint/suspicious/noExplicitAny: it reads answers of every shape
type Json = any

/** Error answer. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Creates a client of the platform over HTTP that throws {@link Refused}. */
export const clientOf =
  (baseUrl: string) =>
  async (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Json> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) {
      throw new Refused(response.status, `${method} ${path} answered ${response.status}: ${text.slice(0, 1_000)}`)
    }
    return text ? JSON.parse(text) : undefined
  }

export type Client = ReturnType<typeof clientOf>

/** Installation that starts runs, and the receivers of its webhooks. */
export interface Tenant {
  headers: Record<string, string>
  /** Credentials of its app. */
  client: { client_id: string; client_secret: string }
  receivers: Receiver[]
}

interface BenchAgent {
  endpoint: string
  scopes: string[]
  tools?: object[]
}

/** Creates a developer's agents in their sandbox, all through the API. */
const installAgents = async (call: Client, agents: BenchAgent[]) => {
  const unique = randomBytes(5).toString('hex')
  const registered = await call(
    'POST',
    '/api/v1/dev/register',
    {},
    { email: `bench-${unique}@example.com`, name: 'Ada' },
  )
  const developer = { 'x-developer-key': registered.api_key }
  const installed: (Omit<Tenant, 'receivers'> & { slug: string })[] = []
  for (const [i, { endpoint, scopes, tools }] of agents.entries()) {
    const slug = `bench-${unique}-${i}`
    const app = await call('POST', '/api/v1/dev/apps', developer, {
      slug,
      type: 'agent',
      name: 'Bench',
      requested_scopes: scopes,
    })
    await call('POST', `/api/v1/dev/apps/${app.id}/versions`, developer, {
      id: `bench-${unique}.${slug}`,
      version: '1.0.0',
      name: 'Bench',
      summary: 'Answers at once.',
      runtime: { type: 'webhook', endpoint },
      ...(tools && { tools }),
    })
    const token = await call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, developer)
    const { client_id, client_secret } = app
    const headers = { authorization: `Bearer ${token.access_token}` }
    installed.push({ slug, headers, client: { client_id, client_secret } })
  }
  return installed
}

interface TenantOptions {
  scopes?: string[]
  /** Events to which each receiver subscribes. */
  events?: string[]
}

/** Creates a developer's agent in their sandbox, with a token and a subscription for each receiver. */
export const createTenant = async (
  call: Client,
  agentUrl: string,
  receivers: Receiver[],
  { scopes = ['runs:read', 'runs:write', 'webhooks:manage'], events = ['run.*'] }: TenantOptions = {},
): Promise<Tenant> => {
  const [agent] = await installAgents(call, [{ endpoint: agentUrl, scopes }])
  if (!agent) throw new Error('The agent wasn’t installed')
  const { headers, client } = agent
  // A sandbox has one subscription per address, and a receiver may stand for several.
  for (const [i, { url }] of receivers.entries()) {
    await call('POST', '/api/v1/webhooks', headers, { url: `${url}/subscription/${i}`, events })
  }
  return { headers, client, receivers }
}

/** Creates installations in one workspace, without subscriptions. */
export const createWorkspace = async (call: Client, endpoint: string, installations: number): Promise<Tenant[]> => {
  const agents = Array.from({ length: installations }, () => ({ endpoint, scopes: ['runs:read', 'runs:write'] }))
  return (await installAgents(call, agents)).map(({ headers, client }) => ({ headers, client, receivers: [] }))
}

/** Creates two agents in one workspace, the second with a tool, and returns the call by which the first asks it. */
export const createPair = async (call: Client, endpoint: string): Promise<() => Promise<Json>> => {
  const [caller, target] = await installAgents(call, [
    { endpoint, scopes: ['runs:write', 'tools:invoke'] },
    {
      endpoint,
      scopes: ['runs:write'],
      tools: [{ name: 'greet', description: 'Greets.', input_schema: { type: 'object' } }],
    },
  ])
  const body = { arguments: { agent: target?.slug, tool: 'greet', arguments: { name: 'Ada' } } }
  return () => call('POST', '/api/v1/tools/ask_agent/invoke', caller?.headers ?? {}, body)
}
