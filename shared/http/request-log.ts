import { REQUEST_METRICS } from '../kernel/metrics.ts'
import type { Exchange } from './exchange.ts'
import { callerName } from './work.ts'

/**
 * One structured line per request: who, what, how long, with the metrics CloudWatch reads from it (embedded metric
 * format). No header, query, body or token is ever in it.
 */
export const record = (exchange: Exchange, status: number): void => {
  const { deps, endpoint, requestId, method, path, caller, startedAt, errorCode } = exchange
  const duration = Math.round((performance.now() - startedAt) * 10) / 10
  deps.log.metrics(
    'request',
    { Group: endpoint?.group ?? 'none' },
    {
      [REQUEST_METRICS.latency]: [duration, 'Milliseconds'],
      [REQUEST_METRICS.errors]: [status >= 500 ? 1 : 0, 'Count'],
      [REQUEST_METRICS.throttled]: [status === 429 ? 1 : 0, 'Count'],
    },
    {
      request_id: requestId,
      endpoint: endpoint?.id ?? null,
      method,
      // The declared path, not the one that came: a path may carry what somebody should not have put there.
      path:
        endpoint?.path ??
        path
          .slice(0, 200)
          .replaceAll(/[\w-]{32,}/g, '…')
          .replaceAll(/[^\w./{}…-]/g, '?'),
      status,
      ...(errorCode && { error_code: errorCode }),
      ...(caller.kind !== 'none' && { caller: callerName(caller) }),
    },
  )
}
