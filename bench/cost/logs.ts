import type { ACCESS_LOG_FIELDS } from '#infra/access-log.ts'
import { createLogger, withLogIds } from '#shared/adapters/logger.ts'
import { logCall } from '#shared/agents/outgoing/log-call.ts'
import type { Exchange } from '#shared/http/exchange.ts'
import { logRequest } from '#shared/http/request-log.ts'
import { newId } from '#shared/kernel/ids.ts'
import { metricsNamespace } from '#shared/kernel/metrics.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const UUID = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef'

/** Ids that Lambda and API Gateway add, in the lengths that they have there. */
const IDS = { lambda_request_id: UUID, gateway_request_id: UUID, xray_trace_id: '1-58406520-a006649127e371903a2de979' }

/** Measured while the line is written, so its number of digits depends on the machine's load. */
const DURATION = /"duration_ms":[\d.]+/

/** Returns the bytes that some code writes into its function's log, with the ends of lines. */
const written = (act: (log: ReturnType<typeof createLogger>) => void): number => {
  let bytes = 0
  const log = createLogger(
    'info',
    (line) => {
      bytes += Buffer.byteLength(line.replace(DURATION, '"duration_ms":24')) + 1
    },
    metricsNamespace('prod'),
  )
  withLogIds(IDS, () => act(log))
  return bytes
}

/** A read of a run, whose line also has the run. */
const request = (log: ReturnType<typeof createLogger>): void =>
  withLogIds({ run_id: newId('run', NOW) }, () =>
    logRequest(
      {
        deps: { log, settings: { lambda: {} } },
        requestId: newId('request', NOW),
        route: { id: 'api.runs.get', group: 'api', path: '/api/v1/runs/{id}' },
        method: 'GET',
        path: '',
        caller: { kind: 'integration', installation: { id: newId('installation', NOW) } },
        startedAt: performance.now(),
      } as unknown as Exchange,
      200,
    ),
  )

/** The gateway's line of that request, with values of usual length. */
const ACCESS_LOG: Record<keyof typeof ACCESS_LOG_FIELDS, string> = {
  request_id: UUID,
  ip: '203.0.113.117',
  method: 'GET',
  path: `/api/v1/runs/${newId('run', NOW)}`,
  status: '200',
  bytes: '2000',
  latency_ms: '24',
  integration_ms: '21',
  error: '-',
}

const call = (log: ReturnType<typeof createLogger>): void =>
  withLogIds({ event_id: newId('event', NOW) }, () =>
    logCall(log, 'webhook delivery', 'webhook', true, {
      delivery_id: newId('delivery', NOW),
      webhook_id: newId('webhook', NOW),
      installation_id: newId('installation', NOW),
      event_id: newId('event', NOW),
      attempt: 1,
      outcome: 200,
      duration_ms: 180,
    }),
  )

/**
 * Bytes of log, as they are written: by a request in the lines of its function and of the gateway, and by a call to an agent
 * or a receiver. Other work logs nothing when it succeeds, and Lambda adds lines of its own only from WARN on.
 */
export const logBytes = {
  ofRequest: written(request) + Buffer.byteLength(JSON.stringify(ACCESS_LOG)) + 1,
  ofCall: written(call),
}
