import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
export type Json = any

/** Called after each step with its name, details and duration. */
export type StepLog = (step: string, detail: string, ms: number) => void

/** Client of a demo. It calls the platform, and reports each step with its duration. */
export const demoClient = (baseUrl: string, log: StepLog = () => {}) => {
  let began = performance.now()
  return {
    /** Part of names that makes them different in every demo. */
    unique: randomBytes(4).toString('hex'),
    step(name: string, detail = ''): void {
      log(name, detail, performance.now() - began)
      began = performance.now()
    },
    async call(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Json> {
      const response = await fetch(baseUrl + path, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
      return text ? JSON.parse(text) : undefined
    },
  }
}

export type DemoClient = ReturnType<typeof demoClient>

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Registers a developer. @returns headers of their calls, and a function that installs an agent in their sandbox */
export const registerDeveloper = async ({ unique, call }: DemoClient) => {
  const email = `ada-${unique}@example.com`
  const registered = await call('POST', '/api/v1/dev/register', {}, { email, name: 'Ada' })
  const developer = { 'x-developer-key': registered.api_key }
  /** Publishes and installs an agent. @returns its token in the sandbox */
  const install = async (name: string, manifest: object): Promise<string> => {
    const slug = `${name}-${unique}`
    const app = await call('POST', '/api/v1/dev/apps', developer, {
      slug,
      name,
      type: 'agent',
      requested_scopes: ['runs:read', 'runs:write', 'tools:invoke'],
    })
    await call('POST', `/api/v1/dev/apps/${app.id}/versions`, developer, {
      id: `example-${unique}.${slug}`,
      version: '1.0.0',
      name,
      summary: 'An agent of the demo.',
      ...manifest,
    })
    await call('POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, developer)
    return (await call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, developer)).access_token
  }
  return { developer, install }
}

/** Reads until the result is as expected, at most a minute. @param what names it in the error */
export const until = async (
  what: string,
  read: () => Promise<Json>,
  isDone: (value: Json) => boolean,
): Promise<Json> => {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await pause(200)) {
    const value = await read()
    if (isDone(value)) return value
  }
  throw new Error(`${what} wasn’t done within a minute.`)
}
