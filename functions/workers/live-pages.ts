import { takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { addressKey } from '#shared/http/source-address.ts'
import type { SocketWorker } from '#shared/http/worker.ts'
import { forgetConnection, receiveMessage } from '#shared/insight/live/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

/** Handles what open pages of the console send over their live connections. */
export const worker: SocketWorker = {
  name: 'live-pages',
  source: { kind: 'sockets' },
  needs: ['table:read', 'table:write', 'keys:public', 'sockets'],
  timeoutSeconds: 15,
  async handle(work, { type, connectionId, origin, sourceIp, body }) {
    if (type === 'CONNECT') {
      // Browsers name the page that connects. Pages of others have no use for a connection, and no token either.
      if (origin !== undefined && origin !== new URL(work.settings.baseUrl).origin) return 403
      return (await mayConnect(work, sourceIp)) ? 200 : 429
    }
    if (type === 'DISCONNECT') await forgetConnection(work, connectionId)
    else await receiveMessage(work, connectionId, body)
    return 200
  },
}

const mayConnect = async (work: WorkerWork, sourceIp: string | undefined): Promise<boolean> => {
  if (!work.settings.addressRateLimits || !sourceIp) return true
  return (await takeFromBucket(work, `live-address:${addressKey(sourceIp)}`, LIMITS.liveAddressRate)).allowed
}
