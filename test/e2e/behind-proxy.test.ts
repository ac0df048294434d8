import { request as send } from 'node:http'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { type StartProxy, worksBehind } from './behind-proxy.ts'

/** A reverse proxy of Node's parts, which passes on all headers as they came. */
const startNodeProxy: StartProxy = async ({ port, upstream, prefix, tls }) => {
  const { hostname, port: upstreamPort } = new URL(upstream)
  const isServed = (url = '') => url.startsWith(`${prefix}/`) || url.startsWith('/.well-known/')
  const server = createServer(tls, (request, response) => {
    if (!isServed(request.url)) return response.writeHead(404).end()
    const { method, url: path, rawHeaders: headers } = request
    const outgoing = send({ hostname, port: upstreamPort, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    outgoing.once('error', () => response.destroy())
    // An upload that is refused is read to its end, as proxies do.
    response.once('close', () => response.writableFinished || outgoing.destroy())
    request.pipe(outgoing)
  })
  server.on('upgrade', ({ method, url, rawHeaders }, socket, head) => {
    if (!isServed(url)) return socket.destroy()
    const lines = [`${method} ${url} HTTP/1.1`]
    for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
    const outgoing = connect(Number(upstreamPort), hostname, () => {
      outgoing.write(`${lines.join('\r\n')}\r\n\r\n`)
      outgoing.write(head)
      outgoing.pipe(socket).pipe(outgoing)
    })
    for (const [one, other] of [
      [outgoing, socket],
      [socket, outgoing],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

worksBehind('a proxy', startNodeProxy, '/platform')
