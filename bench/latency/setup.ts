import { randomBytes } from 'node:crypto'
import type { Receiver } from '#test/support/receiver.ts'

// biome-ignore lint/suspicious/noExplicitAny: it reads answers of every shape
type Json = any

/** A client of the platform over HTTP. */
export const clientOf =
  (baseUrl: string) =>
  async (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Json> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 1_000)}`)
    return text ? JSON.parse(text) : undefined
  }

export type Client = ReturnType<typeof clientOf>

/** An installation that starts runs, and where its webhooks go. */
export interface Tenant {
  headers: Record<string, string>
  receivers: Receiver[]
}

/** A developer's agent in their sandbox, with a token and subscriptions to `run.*`, all through the API. */
export const createTenant = async (call: Client, agentUrl: string, receivers: Receiver[]): Promise<Tenant> => {
  const unique = randomBytes(5).toString('hex')
  const registered = await call(
    'POST',
    '/api/v1/dev/register',
    {},
    { email: `bench-${unique}@example.com`, name: 'Ada' },
  )
  const developer = { 'x-developer-key': registered.api_key }
  const app = await call('POST', '/api/v1/dev/apps', developer, {
    slug: `bench-${unique}`,
    type: 'agent',
    name: 'Bench',
    requested_scopes: ['runs:read', 'runs:write', 'webhooks:manage'],
  })
  await call('POST', `/api/v1/dev/apps/${app.id}/versions`, developer, {
    id: `bench-${unique}.bench-${unique}`,
    version: '1.0.0',
    name: 'Bench',
    summary: 'Answers at once.',
    runtime: { type: 'webhook', endpoint: agentUrl },
  })
  const token = await call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, developer)
  const headers = { authorization: `Bearer ${token.access_token}` }
  for (const { url } of receivers) await call('POST', '/api/v1/webhooks', headers, { url, events: ['run.*'] })
  return { headers, receivers }
}
