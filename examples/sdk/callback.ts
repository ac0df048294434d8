/**
 * A webhook receiver that verifies each delivery's signature and handles each event once.
 *
 * Requires only Node 22.18 or later, which runs TypeScript directly. For Node 20 or later, use `npx tsx`:
 *
 *     WEBHOOK_SECRET=whsec_... node callback.ts
 *
 *     WEBHOOK_SECRET  the subscription's secret, shown once by POST /api/v1/webhooks
 *     PORT            port to listen on; default: 8081. In production, put HTTPS in front of it
 *
 * Subscribe to events with POST /api/v1/webhooks {"url": "https://...", "events": ["run.*"]}, then send a test event with
 * POST /api/v1/webhooks/{id}/test.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'

const TOLERANCE_SECONDS = 300
const MAX_BODY_BYTES = 1024 * 1024
const MOST_SEEN = 10_000

interface PlatformEvent {
  id: string
  type: string
  created_at: string
  workspace_id: string
  data: Record<string, unknown>
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

/**
 * IDs of the latest events.
 *
 * An event can arrive more than once: the platform repeats a delivery until it gets a 2xx, which can get lost.
 * This set is lost on restart. In production, store the ID in the same transaction as your own changes.
 */
const seen = new Set<string>()

const isNew = (id: string): boolean => {
  if (seen.has(id)) return false
  seen.add(id)
  const [oldest] = seen
  if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest)
  return true
}

/** Handles an event. Unknown types aren't errors, because new ones can be added. */
const take = ({ id, type, data }: PlatformEvent): void => {
  if (type === 'run.succeeded') console.log(`${data.run_id} succeeded in ${data.duration_ms} ms`)
  else if (type === 'run.failed') console.log(`${data.run_id} failed: ${data.error_code}`)
  else console.log(`${type} ${id}`)
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

/** Handles a delivery. @returns the status to respond with */
const receive = async (secret: string, request: IncomingMessage): Promise<number> => {
  if (request.method !== 'POST') return 405
  const body = await read(request)
  if (!body) return 413
  const signature = String(request.headers['x-svc-signature'] ?? '')
  if (!isSigned(secret, signature, body, Date.now() / 1_000)) return 401
  const event: PlatformEvent = JSON.parse(body.toString())
  // Any 2xx within 10 seconds confirms a delivery, including a repeated one. Put longer work into a queue.
  if (!isNew(event.id)) return 204
  try {
    take(event)
    return 204
  } catch (error) {
    // The platform sends the event again, and it has to count as new then.
    seen.delete(event.id)
    throw error
  }
}

const main = (): void => {
  const secret = process.env.WEBHOOK_SECRET
  if (!secret) throw new Error('WEBHOOK_SECRET is not set.')
  const server = createServer((request, response) => {
    receive(secret, request).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => {
        console.error(error)
        response.writeHead(500).end()
      },
    )
  })
  server.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', () => {
    console.log(`The receiver is listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

// Starts only if the file is run, not if it is imported.
const [, started] = process.argv
if (started && import.meta.url === pathToFileURL(realpathSync(started)).href) main()
