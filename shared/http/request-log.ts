import { THROTTLED, VERSION_ERRORS } from '../kernel/metrics.ts'
import { nameRequest } from '../kernel/tracing/scope.ts'
import { callerName } from './callers.ts'
import type { Exchange } from './exchange.ts'

/**
 * Writes one structured line per request: caller, operation, status and duration. It never contains a header, query, body
 * or token. A refusal for its rate also carries a metric, because an alarm counts those; all others are in API Gateway's
 * own metrics, and each metric in a line takes more bytes than the rest of it.
 */
export const logRequest = (exchange: Exchange, status: number): void => {
  const { deps, route, requestId, path, caller, startedAt, errorCode } = exchange
  const method = exchange.isHead ? 'HEAD' : exchange.method
  const fields = {
    request_id: requestId,
    endpoint: route?.id ?? null,
    // An endpoint has one method and path. Others are logged without what may be a misplaced secret.
    ...(!route && {
      method,
      path: path
        .slice(0, 200)
        .replaceAll(/[\w-]{32,}/g, '…')
        .replaceAll(/[^\w./{}…-]/g, '?'),
    }),
    status,
    duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
    ...(errorCode && { error_code: errorCode }),
    ...(caller.kind !== 'none' && { caller: callerName(caller) }),
    // Behind the edge, the gateway's access log has the edge's address.
    ...(deps.settings.edge && { ip: exchange.sourceIp }),
  }
  if (status === 429)
    deps.log.metrics('request', { Group: route?.group ?? 'none' }, { [THROTTLED]: [1, 'Count'] }, fields)
  else deps.log.info('request', fields)
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
