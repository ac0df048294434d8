import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'

export interface DemoServer {
  url: string
  close(): Promise<void>
}

/** Starts an HTTP server on a free port of this machine. */
export const startServer = async (listener: RequestListener): Promise<DemoServer> => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
