import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { worker } from '#functions/workers/live-pages.ts'
import { createSockets as createGateway } from '#local/sockets.ts'
import { createSockets } from '#shared/adapters/sockets.ts'
import { runSocketWorker } from '#shared/http/worker.ts'
import type { TestPlatform } from './platform.ts'

/**
 * Gives the platform a WebSocket API on a server that listens: the local run's, with the platform's own function behind
 * it. The server must pass requests to `manage` first.
 */
export const serveLive = ({ deps }: TestPlatform, server: Server) => {
  const { port } = server.address() as AddressInfo
  const url = `ws://127.0.0.1:${port}/live`
  const origin = `http://127.0.0.1:${port}`
  const gateway = createGateway({
    model: { id: 'live', stage: 'test', url, routes: new Map(ROUTES.map((route) => [route, 'live'])) },
    functions: {
      invoke: async (_name, event) => {
        const { headers } = event as { headers?: { origin?: string } }
        // The browser reaches the platform here, while its own address stays what the tests expect.
        if (headers?.origin === origin) headers.origin = new URL(deps.settings.baseUrl).origin
        const value = await runSocketWorker(worker, deps, event)
        return { kind: 'value', value, bytes: 0 }
      },
    },
    onError: (error) => deps.log.error('live', { error }),
  })
  server.on('upgrade', gateway.accept)
  deps.settings.socketsUrl = url
  deps.sockets = createSockets(url, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: origin,
  })
  return { ...gateway, url }
}

const ROUTES = ['$connect', '$disconnect', '$default']
