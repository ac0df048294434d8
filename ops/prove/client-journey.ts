import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import { verifySvc } from '#shared/kernel/signatures.ts'

// biome-ignore lint/suspicious/noExplicitAny: it reads answers of every shape
type Json = any

/** Result of a client's journey through a stage, with the means to repeat it later. */
export interface ClientJourney {
  seen: string
  /** Id of the app that it created, which a restored table must hold. */
  appId: string
  /** Throws unless the token that the journey got is still accepted. */
  requireAccess(): Promise<void>
}

const EVENT_WITHIN_MS = 60_000

const expectThat = (holds: boolean, what: string, answer: unknown): void => {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(answer)}`)
}

/**
 * Does over a stage's address what a developer does on the first day: registers, publishes an agent, receives its signed
 * `run.execute`, answers it, and reads the run's events. The agent has no address of its own. A local listener receives its
 * requests, so nothing has to be reachable from the internet.
 *
 * @throws {Error} at the first answer that isn't as documented
 */
export const runClientJourney = async (baseUrl: string): Promise<ClientJourney> => {
  const unique = randomBytes(4).toString('hex')
  const call = async (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Json> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
    return text ? JSON.parse(text) : undefined
  }
  await call('GET', '/openapi.json', {})
  const registration = { email: `proof-${unique}@example.com`, name: 'Proof' }
  const developer = { 'x-developer-key': (await call('POST', '/api/v1/dev/register', {}, registration)).api_key }
  const app = await call('POST', '/api/v1/dev/apps', developer, {
    slug: `proof-${unique}`,
    type: 'agent',
    name: `Proof ${unique}`,
    requested_scopes: ['workspace:read', 'runs:read', 'runs:write'],
  })
  await call('POST', `/api/v1/dev/apps/${app.id}/versions`, developer, {
    id: `proof-${unique}.proof-${unique}`,
    version: '1.0.0',
    name: `Proof ${unique}`,
    summary: 'Answers the run of a proof.',
    runtime: { type: 'webhook', endpoint: 'https://example.com/never-called' },
  })
  const { access_token } = await call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, developer)
  const bearer = { authorization: `Bearer ${access_token}` }

  const executed: string[] = []
  const answer = async ({ id, kind, headers, body_base64 }: Json): Promise<void> => {
    if (kind !== 'run.execute') return
    const body = Buffer.from(body_base64, 'base64')
    const signature = new Headers(headers).get('x-svc-signature') ?? ''
    if (!verifySvc(app.signing_secret, signature, body, Date.now() / 1_000))
      throw new Error('A forged run.execute arrived')
    const output = { status: 'succeeded', output: { text: unique } }
    executed.push(JSON.parse(body.toString()).run.id)
    await call('POST', `/api/v1/dev/listen/${id}/answer`, developer, {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body_base64: Buffer.from(JSON.stringify(output)).toString('base64'),
      truncated: false,
    })
  }
  const source = new EventSource(`${baseUrl}/api/v1/dev/listen?app_id=${app.id}`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...developer } }),
  })
  try {
    const failed = Promise.withResolvers<never>()
    await Promise.race([
      new Promise((resolve) => source.addEventListener('ready', resolve, { once: true })),
      pause(EVENT_WITHIN_MS).then(() => Promise.reject(new Error('The listener didn’t become ready within a minute'))),
    ])
    source.addEventListener('request', ({ data }) => {
      answer(JSON.parse(data)).catch(failed.reject)
    })
    const began = performance.now()
    const run = await Promise.race([
      call('POST', '/api/v1/runs?wait=30', bearer, { input: { name: 'Ada' }, trigger: 'proof' }),
      failed.promise,
    ])
    const seconds = (performance.now() - began) / 1_000
    expectThat(run.status === 'succeeded' && run.output.text === unique, 'The run ended otherwise', run)
    expectThat(executed.length === 1 && executed[0] === run.id, 'The agent received other runs', executed)
    await waitForEvent(call, bearer, run.id)
    return {
      seen: `a developer registered, a signed run was answered in ${seconds.toFixed(1)} s, its events are in the feed`,
      appId: app.id,
      requireAccess: async () => {
        const me = await call('GET', '/api/v1/me', bearer)
        expectThat(me.app?.id === app.id || me.app_id === app.id, 'The token belongs to another app', me)
      },
    }
  } finally {
    source.close()
  }
}

const waitForEvent = async (
  call: (method: string, path: string, headers: Record<string, string>) => Promise<Json>,
  bearer: Record<string, string>,
  runId: string,
): Promise<void> => {
  const until = performance.now() + EVENT_WITHIN_MS
  while (performance.now() < until) {
    const { items } = await call('GET', '/api/v1/events?limit=100', bearer)
    if (items.some((event: Json) => event.type === 'run.succeeded' && event.data.run_id === runId)) return
    await pause(1_000)
  }
  throw new Error(`run.succeeded of ${runId} isn’t in the feed after a minute`)
}
