import { createServer, type Server } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'

export type Front = {
  baseUrl: string
  /** @param headers that CloudFront adds to each request, over those of the client */
  pointAt(api: { endpoint: URL; certificate: string; id: string; stage: string; headers: Record<string, string> }): void
  close(): void
}

/**
 * Starts a proxy in CloudFront's place, with a fixed address as a domain has it on AWS. The API's id is known only after
 * deployment, but the base address is part of what is deployed.
 */
export async function openFront(): Promise<Front> {
  let target: { origin: URL; path: string; agent: Agent; headers: Record<string, string> } | undefined
  const server: Server = createServer((incoming, outgoing) => {
    if (target === undefined) {
      outgoing.writeHead(503).end()
      return
    }
    const { origin, path, agent, headers } = target
    const forwarded = request(
      {
        agent,
        host: origin.hostname,
        port: origin.port,
        method: incoming.method,
        path: `${path}${incoming.url}`,
        headers: { ...incoming.headers, ...headers, host: origin.host },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.pipe(outgoing)
      },
    )
    forwarded.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(forwarded)
  })
  // On a busy machine, a connection would be closed while the next request is on its way.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pointAt: ({ endpoint, certificate, id, stage, headers }) => {
      target = {
        headers,
        origin: endpoint,
        path: `/restapis/${id}/${stage}/_user_request_`,
        // The emulator closes idle connections, and a busy machine notices too late.
        agent: new Agent({ keepAlive: false, ca: certificate }),
      }
    },
    close: () => {
      target?.agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}
