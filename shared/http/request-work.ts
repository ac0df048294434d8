import { transactAndSend } from '#shared/foundation/queues/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { idsOf } from '../kernel/ids.ts'
import type { Exchange } from './exchange.ts'
import { renderValue } from './render.ts'

/**
 * Returns a request's unit of work. Under an Idempotency-Key, the response is stored in the transaction of its change. The commit of
 * a HEAD writes nothing.
 */
export const createRequestWork = (exchange: Exchange): Work => {
  const { deps, lock, requestId, sourceIp, caller, isHead } = exchange
  return {
    ...deps,
    requestId,
    sourceIp,
    developerMember: caller.kind === 'developer' ? caller.member?.id : undefined,
    userAgent: exchange.headers['user-agent'],
    id: lock?.id ?? idsOf(requestId, () => deps.clock.now()),
    async commit(writes, value) {
      if (isHead) return
      if (!lock || value === undefined) {
        await transactAndSend(deps, writes)
        exchange.changed = true
        return
      }
      const kept = renderValue(exchange, value)
      kept.headers = { ...kept.headers, 'x-request-id': requestId }
      await transactAndSend(deps, [...writes, await lock.completion(kept)])
      exchange.changed = true
      exchange.committed = kept
    },
  }
}
