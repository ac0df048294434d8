import { REQUEST_METRICS, VERSION_ERRORS } from '../kernel/metrics.ts'
import { nameRequest } from '../kernel/tracing/scope.ts'
import { callerName } from './callers.ts'
import type { Exchange } from './exchange.ts'

/**
 * Writes one structured line per request: caller, operation, duration, and the metrics that CloudWatch reads from it
 * (embedded metric format). It never contains a header, query, body or token.
 */
export const logRequest = (exchange: Exchange, status: number): void => {
  const { deps, route, requestId, method, path, caller, startedAt, errorCode } = exchange
  const duration = Math.round((performance.now() - startedAt) * 10) / 10
  deps.log.metrics(
    'request',
    { Group: route?.group ?? 'none' },
    {
      [REQUEST_METRICS.latency]: [duration, 'Milliseconds'],
      [REQUEST_METRICS.errors]: [status >= 500 ? 1 : 0, 'Count'],
      [REQUEST_METRICS.throttled]: [status === 429 ? 1 : 0, 'Count'],
    },
    {
      request_id: requestId,
      endpoint: route?.id ?? null,
      method,
      // Logs the declared path, because the actual path may contain a misplaced secret.
      path:
        route?.path ??
        path
          .slice(0, 200)
          .replaceAll(/[\w-]{32,}/g, '…')
          .replaceAll(/[^\w./{}…-]/g, '?'),
      status,
      ...(errorCode && { error_code: errorCode }),
      ...(caller.kind !== 'none' && { caller: callerName(caller) }),
      // Behind the edge, the gateway's access log has the edge's address.
      ...(deps.settings.edge && { ip: exchange.sourceIp }),
    },
  )
  nameRequest(
    route ? `${method} ${route.path}` : method,
    {
      'http.request.method': method,
      'http.response.status_code': status,
      'http.route': route?.path,
      'platform.request_id': requestId,
      'platform.endpoint': route?.id,
      'error.type': errorCode,
    },
    status >= 500,
  )
  if (status < 500) return
  const { name, version } = deps.settings.lambda
  deps.log.metrics(
    'server error',
    { Function: name, Version: version },
    { [VERSION_ERRORS]: [1, 'Count'] },
    { request_id: requestId },
  )
}
