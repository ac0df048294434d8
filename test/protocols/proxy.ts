import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Ids that bind later messages to the caller of the first: tasks, states and sessions. */
const BINDING = /"(?:taskId|requestState|contextId)":\s*"([^"]+)"|\b(run_[0-9a-z]{26})\b/g

/** Start and id of a message of the A2A project’s kit. */
const KIT_MESSAGE = /"messageId":\s*"tck-[\w-]+/

const CARD = '/.well-known/agent-card.json'

const bindingsIn = (text: string): string[] => [...text.matchAll(BINDING)].map(([, name, task]) => name ?? task ?? '')

/**
 * Starts a proxy for suites that send no token. It adds one, and keeps `Host` and `Origin` as they are.
 * @param tokens taken in turn, because each caller has its own rate limit; what belongs together keeps its caller
 */
export const startProxy = async (baseUrl: string, tokens: readonly string[]) => {
  const bound = new Map<string, string>()
  let turn = 0
  let messages = 0
  const tokenFor = ({ headers, url = '' }: http.IncomingMessage, body: string): string => {
    const session = headers['mcp-session-id']
    const names = [...(typeof session === 'string' ? [session] : []), ...bindingsIn(url + body)]
    const known = names.map((name) => bound.get(name)).find((token) => token !== undefined)
    const token = known ?? (tokens[turn++ % tokens.length] as string)
    for (const name of names) bound.set(name, token)
    return token
  }
  /** Names the proxy where a card names the platform. */
  const answerCard = async (answer: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const card = Buffer.from((await buffer(answer)).toString().replaceAll(baseUrl, `http://127.0.0.1:${port}`))
    response.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'content-length': card.length })
    response.end(card)
  }
  const server = http.createServer(async (request, response) => {
    // The A2A project’s kit sends different messages under one id, which is an error here (contract/a2a.md#idempotency).
    const body = (await buffer(request)).toString().replace(KIT_MESSAGE, (id) => `${id}-${++messages}`)
    const token = tokenFor(request, body)
    // The A2A project's kit puts a slash after the address of a JSON-RPC interface.
    const target = new URL((request.url ?? '/').replace(/\/rpc\/$/, '/rpc'), baseUrl)
    const { method } = request
    const upstream = http.request(
      target,
      {
        method,
        headers: { ...request.headers, 'content-length': Buffer.byteLength(body), authorization: `Bearer ${token}` },
      },
      (answer) => {
        const session = answer.headers['mcp-session-id']
        if (typeof session === 'string') bound.set(session, token)
        if (request.url?.includes(CARD)) {
          answerCard(answer, response).catch(() => response.destroy())
          return
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        let seen = ''
        answer.on('data', (piece: Buffer) => {
          seen += piece.toString()
          for (const name of bindingsIn(seen)) bound.set(name, token)
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
