import { text } from 'node:stream/consumers'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { startServer } from './server.ts'

export interface ReceivedEvent {
  type: string
  data: Record<string, unknown>
  verified: boolean
}

/** Starts a webhook receiver that verifies each delivery's signature over the raw bytes. */
export const startReceiver = async () => {
  let secret = ''
  const events: ReceivedEvent[] = []
  const { url, close } = await startServer(async (request, response) => {
    const raw = await text(request)
    const verified = verifySvc(secret, String(request.headers['x-svc-signature'] ?? ''), raw, Date.now() / 1_000)
    const { type, data } = JSON.parse(raw)
    events.push({ type, data, verified })
    response.writeHead(verified ? 204 : 400).end()
  })
  return {
    url: `${url}/webhooks`,
    events,
    useSecret(value: string) {
      secret = value
    },
    close,
  }
}
