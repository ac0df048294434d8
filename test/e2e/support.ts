import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LogEntry, type Platform, type PlatformOptions, startPlatform } from '#local/platform.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { scratchFolder } from '#testkit/scratch.ts'

/** Starts the real local platform over built bundles and the synthesized template, as `npm start` does. */
export interface Running {
  platform: Platform
  baseUrl: string
  dataDir: string
  /** Everything that was logged, unchanged. */
  logs: LogEntry[]
  /** Stops the platform and keeps the data. */
  stop(): Promise<void>
}

export const startLocal = async (options: Partial<PlatformOptions> & { dataDir: string }): Promise<Running> => {
  const logs: LogEntry[] = []
  const platform = await startPlatform({
    ...ASSEMBLY,
    port: 0,
    env: { LOG_LEVEL: 'debug', ...options.env },
    ...options,
  })
  platform.onLog((entry) => logs.push(entry))
  return { platform, baseUrl: platform.baseUrl, dataDir: options.dataDir, logs, stop: platform.stop }
}

/** Creates a folder that is removed when the returned function is called. */
export const temporaryFolder = () => scratchFolder('e2e-')

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  body: any
  text: string
}

export interface Sent {
  token?: string
  headers?: Record<string, string>
  /** JSON; a string or form is sent unchanged. */
  body?: unknown
}

/** Sends one request and reads the answer, whatever its status. */
export const send = async (baseUrl: string, method: string, to: string, sent: Sent = {}): Promise<Answer> => {
  const raw = typeof sent.body === 'string' || sent.body instanceof URLSearchParams
  const response = await fetch(baseUrl + to, {
    method,
    redirect: 'manual',
    headers: {
      ...(sent.body !== undefined && !raw && { 'content-type': 'application/json' }),
      ...(sent.token && { authorization: `Bearer ${sent.token}` }),
      ...sent.headers,
    },
    ...(sent.body !== undefined && { body: raw ? (sent.body as string) : JSON.stringify(sent.body) }),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined }
}

/** Sends one request that must succeed. */
export const must = async (baseUrl: string, method: string, to: string, sent?: Sent): Promise<Answer['body']> => {
  const answer = await send(baseUrl, method, to, sent)
  if (answer.status >= 300) throw new Error(`${method} ${to} answered ${answer.status}: ${answer.text}`)
  return answer.body
}

/** Creates a developer with an app whose agent has a published version. */
export const newAgent = async (
  baseUrl: string,
  options: { endpoint?: string; runtime?: object; redirectUri?: string; scopes?: string[]; tools?: object[] },
) => {
  const unique = randomBytes(5).toString('hex')
  const registered = await must(baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: `dev-${unique}@example.com`, name: 'Ada' },
    headers: { 'idempotency-key': randomUUID() },
  })
  const headers = { 'x-developer-key': registered.api_key as string }
  const app = await must(baseUrl, 'POST', '/api/v1/dev/apps', {
    headers,
    body: {
      slug: `agent-${unique}`,
      name: 'Agent',
      type: 'agent',
      redirect_uris: [options.redirectUri ?? 'http://127.0.0.1:9/callback'],
      requested_scopes: options.scopes ?? ['workspace:read', 'runs:write', 'tools:invoke', 'webhooks:manage'],
    },
  })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions`, {
    headers,
    body: {
      id: `vendor-${unique}.agent-${unique}`,
      version: '1.0.0',
      name: 'Agent',
      summary: 'An agent of the tests.',
      runtime: options.runtime ?? { type: 'webhook', endpoint: options.endpoint },
      ...(options.tools && { tools: options.tools }),
    },
  })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, { headers })
  return {
    headers,
    app: app as { id: string; slug: string; client_id: string; client_secret: string; signing_secret: string },
    sandboxId: registered.sandbox_workspace.id as string,
  }
}

export type Agent = Awaited<ReturnType<typeof newAgent>>

/** Returns an access token of the app's sandbox installation. */
export const sandboxToken = async (baseUrl: string, { app, headers }: Agent): Promise<string> =>
  (await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers })).access_token

/** Returns a verifier and its challenge (RFC 7636). */
export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Plays the person in the browser, who follows the authorize link and decides. @returns the address of the redirect */
export const consent = async (
  baseUrl: string,
  authorizeUrl: URL,
  workspaceId: string,
  decision: 'approve' | 'deny' = 'approve',
): Promise<URL> => {
  const redirected = await send('', 'GET', authorizeUrl.href)
  const tg = new URL(redirected.headers.get('location') ?? '').searchParams.get('tg')
  const session = await must(baseUrl, 'POST', '/console/session', {
    body: { user: `person-${randomBytes(5).toString('hex')}`, workspace: workspaceId },
  })
  await must(baseUrl, 'GET', `/oauth/consent/request?tg=${tg}`, { token: session.token })
  const decided = await must(baseUrl, 'POST', '/oauth/consent/decision', {
    token: session.token,
    body: { tg, decision, workspace_id: workspaceId },
  })
  return new URL(decided.redirect_to)
}

/** Waits until `ask` returns a value. */
export const until = async <T>(ask: () => Promise<T | undefined> | T | undefined, timeoutMs = 120_000): Promise<T> => {
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    const answer = await ask()
    if (answer !== undefined) return answer
    // A person may make ten requests a second.
    await sleep(100)
  }
  throw new Error(`nothing came within ${timeoutMs} ms`)
}
