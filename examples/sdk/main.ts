/**
 * An agent that verifies the platform's signature and answers immediately, or accepts the run and completes it later.
 *
 * Requires only Node 22.18 or later, which runs TypeScript directly. For Node 20 or later, use `npx tsx`:
 *
 *     SIGNING_SECRET=agsec_... node main.ts
 *
 *     SIGNING_SECRET  the app's signing secret, shown once by POST /api/v1/dev/apps
 *     PORT            port to listen on; default: 8080. In production, put HTTPS in front of it
 *                     and use that address as the manifest's runtime.endpoint
 *
 * Try it with POST /api/v1/dev/apps/{id}/test-run and one of these bodies:
 *
 *     {"input": {"name": "Ada"}}     answered immediately
 *     {"input": {"count_down": 3}}   accepted with 202 and completed later through the API
 *     {"input": {}}                  fails with one of this agent's own error codes
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const TOLERANCE_SECONDS = 300
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** The parts of run.execute that this agent reads. */
interface Execute {
  run: { id: string; input: Record<string, unknown> }
  installation: { settings: Record<string, unknown> }
  callback: Token & { base_url: string }
}

interface Token {
  token: string
  /** Seconds. */
  expires_in: number
}

interface Answer {
  status: 'succeeded' | 'failed'
  output?: object
  steps?: object[]
  cost_units?: number
  error_code?: string
  error_message?: string
}

/** Fails the run. The customer and the developer see the code and the message, so don't include stack traces. */
class AgentError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
  answer(): Answer {
    return { status: 'failed', error_code: this.code, error_message: this.message }
  }
}

/**
 * Checks `X-SVC-Signature: t=<unix seconds>,v1=<hex>`.
 *
 * `v1` is the HMAC-SHA256 of `<t>.<body>`, keyed with the whole secret. During a rotation there is one `v1` for each
 * secret. Pass the raw bytes of the body: JSON that was parsed and serialized again can differ.
 *
 * @param now Unix seconds
 */
export const isSigned = (secret: string, header: string, body: Uint8Array, now: number): boolean => {
  const parts = header.split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const [time = ''] = times
  // With two timestamps, the one that is checked could differ from the one that is signed.
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(time)) return false
  // Prevents replays of recorded requests.
  if (Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  return (
    parts
      .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
      // timingSafeEqual takes constant time, so its timing doesn't reveal where the difference is.
      .map((part) => timingSafeEqual(Buffer.from(part.slice(3), 'hex'), expected))
      .includes(true)
  )
}

/** Handles a run.execute request. @returns the status and, if any, the body of the answer */
const run = (execute: Execute): [status: number, body?: Answer] => {
  // If another agent calls a tool, the input contains the tool's arguments.
  const input = execute.run.input
  try {
    if ('count_down' in input) {
      const seconds = Number(input.count_down)
      if (!Number.isInteger(seconds) || seconds < 1 || seconds > 60) {
        throw new AgentError('count_out_of_range', 'count_down must be a whole number from 1 to 60.')
      }
      // The platform waits 30 seconds for an answer, so longer work is accepted first.
      countDown(execute, seconds).catch((error: unknown) => console.error('The run could not be completed:', error))
      return [202]
    }
    return [200, greet(input, execute.installation.settings)]
  } catch (error) {
    if (error instanceof AgentError) return [200, error.answer()]
    throw error
  }
}

const greet = (input: Record<string, unknown>, settings: Record<string, unknown>): Answer => {
  if (!input.name) throw new AgentError('name_missing', 'The input has no name to greet.')
  const text = `${settings.greeting ?? 'Hello'}, ${input.name}!`
  return { status: 'succeeded', output: { text }, steps: [{ type: 'message', output: { text } }], cost_units: 1 }
}

/** Continues after the 202: reports progress, then completes the run. */
const countDown = async ({ run, callback }: Execute, seconds: number): Promise<void> => {
  const platform = new Platform(run.id, callback)
  try {
    for (let number = seconds; number > 0; number--) {
      await platform.post(`/runs/${run.id}/steps`, { type: 'message', output: { text: String(number) } })
      await sleep(1_000)
    }
    const answer: Answer = { status: 'succeeded', output: { text: 'Lift-off!' }, cost_units: seconds }
    await platform.post(`/runs/${run.id}/complete`, answer)
  } catch (error) {
    // The run was cancelled, so there is nothing left to do.
    if (error instanceof PlatformError && error.code === 'run_already_finished') return
    throw error
  }
}

/** An error response. Match on the code, because the message can change. */
class PlatformError extends Error {
  readonly code: string
  constructor(error: { code: string; message: string; fix: string; request_id: string }) {
    super(`${error.code}: ${error.message} ${error.fix} (${error.request_id})`)
    this.code = error.code
  }
}

/** Client for one run, with the run's callback token. */
class Platform {
  readonly #runId: string
  readonly #baseUrl: string
  #token = ''
  #expiresAt = 0

  constructor(runId: string, callback: Execute['callback']) {
    this.#runId = runId
    this.#baseUrl = callback.base_url
    this.#take(callback)
  }

  #take({ token, expires_in }: Token): void {
    this.#token = token
    this.#expiresAt = performance.now() + expires_in * 1_000
  }

  /** Sends a request and retries it if necessary. @throws {PlatformError} */
  async post(path: string, body: object): Promise<unknown> {
    // The token is valid for 15 minutes, and can be exchanged for a new one before it expires.
    if (this.#expiresAt - performance.now() < 60_000) {
      this.#take((await this.#send(`/runs/${this.#runId}/callback-token`, {})) as Token)
    }
    return this.#send(path, body)
  }

  async #send(path: string, body: object): Promise<unknown> {
    // All attempts share a key, so the platform recognizes repeats and writes no step twice.
    const headers = {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    for (let attempt = 1; ; attempt++) {
      const signal = AbortSignal.timeout(30_000)
      try {
        const options = { method: 'POST', headers, body: JSON.stringify(body), signal }
        const response = await fetch(this.#baseUrl + path, options)
        const answer = JSON.parse(await response.text())
        if (response.ok) return answer
        if (attempt === 5 || (response.status !== 429 && response.status < 500)) throw new PlatformError(answer.error)
        await sleep(1_000 * Number(response.headers.get('retry-after') ?? attempt))
      } catch (error) {
        if (attempt === 5 || error instanceof PlatformError) throw error
        await sleep(1_000 * attempt)
      }
    }
  }
}

/** Reads the body. @returns undefined if it is too large */
const read = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const handle = async (secret: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const reply = (status: number, body?: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body))
  }
  if (request.method !== 'POST') return reply(405)
  const body = await read(request)
  if (!body) return reply(413)
  const signature = String(request.headers['x-svc-signature'] ?? '')
  if (!isSigned(secret, signature, body, Date.now() / 1_000)) return reply(401)
  reply(...run(JSON.parse(body.toString())))
}

const main = (): void => {
  const secret = process.env.SIGNING_SECRET
  if (!secret) throw new Error('SIGNING_SECRET is not set.')
  const server = createServer((request, response) => {
    handle(secret, request, response).catch((error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    })
  })
  server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
    console.log(`The agent is listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

// Starts only if the file is run, not if it is imported.
const [, started] = process.argv
if (started && import.meta.url === pathToFileURL(realpathSync(started)).href) main()
