import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { serveLive } from '#testkit/live.ts'
import type { TestPlatform } from '#testkit/platform.ts'

/** Size from which the gateway compresses (infra/api.ts). */
const COMPRESSED_BYTES = 2_048

/**
 * Serves the platform to a browser, below a path, as on a deployed stage.
 * @param withLive offers live connections as well
 */
export const serveToBrowser = async (platform: TestPlatform, prefix: string, withLive = false) => {
  const { call } = platform
  let live: ReturnType<typeof serveLive> | undefined
  const server = createServer(async (request, response) => {
    if (live?.manage(request, response)) return undefined
    const path = (request.url ?? '').slice(prefix.length)
    if (!request.url?.startsWith(`${prefix}/`)) return response.writeHead(404).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const body = Buffer.concat(chunks).toString()
    const answer = await call(request.method ?? 'GET', path, { headers, ...(body && { body }) })
    if (answer.text.length < COMPRESSED_BYTES || !/\bgzip\b/.test(headers['accept-encoding'] ?? ''))
      return response.writeHead(answer.status, answer.headers).end(answer.text)
    const { 'content-length': _, ...others } = answer.headers
    return response.writeHead(answer.status, { ...others, 'content-encoding': 'gzip' }).end(gzipSync(answer.text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  if (withLive) live = serveLive(platform, server)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    live: () => live,
    close: () =>
      new Promise<void>((resolve) => {
        live?.stop()
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
