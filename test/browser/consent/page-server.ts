import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestPlatform } from '#testkit/platform.ts'

/** Serves the platform to a browser, below a path, as on a deployed stage. */
export const serveToBrowser = async ({ call }: Pick<TestPlatform, 'call'>, prefix: string) => {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').slice(prefix.length)
    if (!request.url?.startsWith(`${prefix}/`)) return response.writeHead(404).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const body = Buffer.concat(chunks).toString()
    const answer = await call(request.method ?? 'GET', path, { headers, ...(body && { body }) })
    return response.writeHead(answer.status, answer.headers).end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
