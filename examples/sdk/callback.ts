/**
 * A webhook receiver. It checks each delivery's signature and takes each event once.
 *
 * Needs nothing but Node (22.18 or newer runs TypeScript as it is; older ones, from 20, with `npx tsx`):
 *
 *     WEBHOOK_SECRET=whsec_... node callback.ts
 *
 *     WEBHOOK_SECRET  the subscription's secret: POST /api/v1/webhooks shows it once
 *     PORT            where to listen; 8081 unless set. In public, put https in front of it
 *
 * Subscribe it with POST /api/v1/webhooks {"url": "https://...", "events": ["run.*"]}, then have a test event sent with
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
 * `v1` is the HMAC-SHA256 of `<t>.<body>`, keyed with the whole secret. While a rotation overlaps there is one `v1` for
 * each secret. The body is the bytes as they came: JSON that was parsed and written again is other bytes.
 *
 * @param now Unix seconds
 */
export const isSigned = (secret: string, header: string, body: Uint8Array, now: number): boolean => {
  const parts = header.split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const [time = ''] = times
  // Two times would let the one that is checked differ from the one that is signed.
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(time)) return false
  // What somebody recorded cannot be sent again later.
  if (Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  return (
    parts
      .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
      // timingSafeEqual takes the same time wherever the difference is.
      .map((part) => timingSafeEqual(Buffer.from(part.slice(3), 'hex'), expected))
      .includes(true)
  )
}

/**
 * The ids of the latest events.
 *
 * An event may come several times: a delivery is repeated until a 2xx comes back, and that answer can be lost. In
 * memory this holds until the next restart; where it matters, keep the id in the same transaction as what you do.
 */
const seen = new Set<string>()

const isNew = (id: string): boolean => {
  if (seen.has(id)) return false
  seen.add(id)
  const [oldest] = seen
  if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest)
  return true
}

/** What you do with an event. Types that you do not know are no error: more may come. */
const take = ({ id, type, data }: PlatformEvent): void => {
  if (type === 'run.succeeded') console.log(`${data.run_id} succeeded in ${data.duration_ms} ms`)
  else if (type === 'run.failed') console.log(`${data.run_id} failed: ${data.error_code}`)
  else console.log(`${type} ${id}`)
}

/** @returns nothing when it is too large */
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

/** @returns the status to answer with */
const receive = async (secret: string, request: IncomingMessage): Promise<number> => {
  if (request.method !== 'POST') return 405
  const body = await read(request)
  if (!body) return 413
  const signature = String(request.headers['x-svc-signature'] ?? '')
  if (!isSigned(secret, signature, body, Date.now() / 1_000)) return 401
  const event: PlatformEvent = JSON.parse(body.toString())
  // Any 2xx says that it has arrived, a repeat too. It has to come within 10 seconds: what takes longer, queue.
  if (!isNew(event.id)) return 204
  try {
    take(event)
    return 204
  } catch (error) {
    // Not taken: the platform sends it again, and then it has to be new.
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
    console.log(`The receiver listens at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

/** Whether it is run, not imported. */
const [, started] = process.argv
if (started && import.meta.url === pathToFileURL(realpathSync(started)).href) main()
