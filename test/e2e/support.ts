import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LogEntry, type Platform, type PlatformOptions, startPlatform } from '#local/platform.ts'
import { BUNDLES, prepare, ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#test/support/scratch.ts'

/** Where the cloud assembly of these tests lies; beside the bundles, so that `dist/` is all there is to ignore. */
const CDK_OUT = path.join(ROOT, 'dist', 'e2e')
const LOCK = path.join(ROOT, 'dist', 'e2e.lock')
const LOCK_LIFE_MS = 60_000

/** Builds and synthesizes once for whatever test files run at the same time. */
export const assembly = async (): Promise<{ cdkOut: string; bundles: string }> => {
  mkdirSync(path.dirname(LOCK), { recursive: true })
  for (;;) {
    try {
      mkdirSync(LOCK)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await sleep(100)
      // Whoever was killed in the middle does not keep the others out.
      const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (age > LOCK_LIFE_MS) rmSync(LOCK, { recursive: true, force: true })
    }
  }
  try {
    await prepare({ cdkOut: CDK_OUT })
  } finally {
    // Not there any more, if this build took so long that another run took the lock over.
    rmSync(LOCK, { recursive: true, force: true })
  }
  return { cdkOut: CDK_OUT, bundles: BUNDLES }
}

/** The real local platform over built bundles and the synthesized template, as `npm start` runs it. */
export interface Running {
  platform: Platform
  baseUrl: string
  dataDir: string
  /** Everything that was logged, as it was logged. */
  logs: LogEntry[]
  /** Stops it and leaves the data. */
  stop(): Promise<void>
}

export const startLocal = async (options: Partial<PlatformOptions> & { dataDir: string }): Promise<Running> => {
  const logs: LogEntry[] = []
  const platform = await startPlatform({
    ...(await assembly()),
    port: 0,
    env: { LOG_LEVEL: 'debug', ...options.env },
    ...options,
  })
  platform.onLog((entry) => logs.push(entry))
  return { platform, baseUrl: platform.baseUrl, dataDir: options.dataDir, logs, stop: platform.stop }
}

/** A folder that is gone when the returned function is called. */
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
  /** JSON; a string or form goes out as it is. */
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

/** A developer with an app whose agent has a published version. */
export const newAgent = async (
  baseUrl: string,
  options: { endpoint?: string; runtime?: object; redirectUri?: string; scopes?: string[] },
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
    },
  })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, { headers })
  return {
    headers,
    app: app as { id: string; client_id: string; client_secret: string; signing_secret: string },
    sandboxId: registered.sandbox_workspace.id as string,
  }
}

export type Agent = Awaited<ReturnType<typeof newAgent>>

/** An access token of the app's sandbox installation. */
export const sandboxToken = async (baseUrl: string, { app, headers }: Agent): Promise<string> =>
  (await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers })).access_token

/** A verifier and its challenge (RFC 7636). */
export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** What a person does in the browser: follows the authorize link and decides. @returns where they are sent back to */
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

/** Waits until something is so. */
export const until = async <T>(ask: () => Promise<T | undefined> | T | undefined, timeoutMs = 60_000): Promise<T> => {
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await sleep(25)
  }
  throw new Error('what was waited for did not come')
}
