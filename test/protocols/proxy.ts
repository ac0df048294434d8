import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Ids that bind later messages to the caller of the first: tasks, states and sessions. */
const BINDING = /"(?:taskId|requestState)":\s*"([^"]+)"/g

/**
 * Starts a proxy for suites that send no token. It adds one, and keeps `Host` and `Origin` as they are.
 * @param tokens taken in turn, because each caller has its own rate limit; what belongs together keeps its caller
 */
export const startProxy = async (baseUrl: string, tokens: readonly string[]) => {
  const bound = new Map<string, string>()
  let turn = 0
  const tokenFor = (headers: http.IncomingHttpHeaders, body: string): string => {
    const session = headers['mcp-session-id']
    const names = [...(typeof session === 'string' ? [session] : []), ...[...body.matchAll(BINDING)].map((m) => m[1])]
    const known = names.map((name) => bound.get(name ?? '')).find((token) => token !== undefined)
    return known ?? (tokens[turn++ % tokens.length] as string)
  }
  const server = http.createServer(async (request, response) => {
    const body = await buffer(request)
    const token = tokenFor(request.headers, body.toString())
    const target = new URL(request.url ?? '/', baseUrl)
    const { method } = request
    const upstream = http.request(
      target,
      { method, headers: { ...request.headers, authorization: `Bearer ${token}` } },
      (answer) => {
        const session = answer.headers['mcp-session-id']
        if (typeof session === 'string') bound.set(session, token)
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        let seen = ''
        answer.on('data', (piece: Buffer) => {
          seen += piece.toString()
          for (const [, name] of seen.matchAll(BINDING)) if (name !== undefined) bound.set(name, token)
        })
        answer.pipe(response)
      },
    )
    upstream.on('error', () => response.destroy())
    response.on('close', () => upstream.destroy())
    upstream.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
