import { once } from 'node:events'
import { createServer } from 'node:http'
import { verifySvc } from '#shared/kernel/signatures.ts'

export interface ReceivedEvent {
  type: string
  data: Record<string, unknown>
  verified: boolean
}

/** Starts a webhook receiver that verifies each delivery's signature over the raw bytes. */
export const startReceiver = async () => {
  let secret = ''
  const events: ReceivedEvent[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks).toString()
    const verified = verifySvc(secret, String(request.headers['x-svc-signature'] ?? ''), raw, Date.now() / 1_000)
    const { type, data } = JSON.parse(raw)
    events.push({ type, data, verified })
    response.writeHead(verified ? 204 : 400).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    events,
    useSecret(value: string) {
      secret = value
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
