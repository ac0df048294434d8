import type { SocketWorker } from '#shared/http/worker.ts'
import { forgetConnection, receiveMessage } from '#shared/insight/live/index.ts'

/** Handles what open pages of the console send over their live connections. */
export const worker: SocketWorker = {
  name: 'live-pages',
  source: { kind: 'sockets' },
  needs: ['table:read', 'table:write', 'keys:public', 'keys:tokens', 'sockets'],
  timeoutSeconds: 15,
  async handle(work, { type, connectionId, origin, body }) {
    if (type === 'CONNECT') {
      // Browsers name the page that connects. Pages of others have no use for a connection, and no token either.
      return origin === undefined || origin === new URL(work.settings.baseUrl).origin ? 200 : 403
    }
    if (type === 'DISCONNECT') await forgetConnection(work, connectionId)
    else await receiveMessage(work, connectionId, body)
    return 200
  },
}
