import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, vi } from 'vitest'
import { using } from './using.ts'

/**
 * Provides a server that answers the SDK's clients as scripted, and in each test the environment of a function. The status 0 breaks
 * the connection. Without an answer left, it fails with 500.
 */
export const usingAwsServer = () => {
  const answers: { status: number; body: string; headers?: Record<string, string> }[] = []
  const requests: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = []
  beforeEach(() => {
    answers.length = 0
    requests.length = 0
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDFUNCTION')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
    vi.stubEnv('AWS_SESSION_TOKEN', 'the-session')
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    return () => vi.unstubAllEnvs()
  })
  return using(
    async () => {
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        requests.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() })
        const { status, body, headers } = answers.shift() ?? { status: 500, body: '{}' }
        if (status === 0) response.destroy()
        else response.writeHead(status, { 'x-amzn-requestid': 'the-request', ...headers }).end(body)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return { answers, requests, endpoint, server }
    },
    async ({ server }) => {
      server.closeAllConnections()
      server.close()
    },
  )
}

/** Acts with the endpoint in each variable that names DynamoDB's, while nothing listens at that of the variable that gives way to it. */
export const forEachEndpointVariable = async (endpoint: string, act: () => Promise<void>): Promise<void> => {
  for (const [name, other] of [
    ['AWS_ENDPOINT_URL', 'AWS_NOTHING'],
    ['AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL'],
  ] as const) {
    vi.stubEnv(other, 'http://127.0.0.1:9')
    vi.stubEnv(name, endpoint)
    await act()
  }
}
