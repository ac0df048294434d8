import { AsyncLocalStorage } from 'node:async_hooks'
import { iso } from '../kernel/clock.ts'
import type { Logger } from '../kernel/ports/logger.ts'
import { currentTraceId } from '../kernel/tracing/scope.ts'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
type Level = (typeof LEVELS)[number]

/**
 * Secrets that never belong in a log, in any field. A token's header has a bounded length, because `eyJ-eyJ-…` would
 * otherwise take quadratic time.
 */
const SECRET =
  /\b(?:dvk_|adk_|whsec_|agsec_|rft_|cs_|code_|join_|oauth_)[\w+/=-]{8,}|\beyJ[\w-]{6,400}\.[\w-]+\.[\w-]*(?:\.[\w-]*){0,2}|\bbot\d+:[\w-]+|\b\d+:AA[\w-]{30,}/g

/** Ids that each line of an invocation, or of one message of a batch, has. */
export type LogIds = Partial<
  Record<'lambda_request_id' | 'gateway_request_id' | 'xray_trace_id' | 'request_id' | 'run_id' | 'event_id', string>
>

const context = new AsyncLocalStorage<LogIds>()

/** Runs `act`, and adds the ids to every line that it logs. */
export const withLogIds = <T>(ids: LogIds, act: () => T): T => context.run({ ...context.getStore(), ...ids }, act)

/** Adds ids, which became known later, to the rest of the lines. */
export const addLogIds = (ids: LogIds): void => {
  const store = context.getStore()
  if (store !== undefined) Object.assign(store, ids)
}

/**
 * Creates a structured logger that writes one JSON line per entry, with CloudWatch's embedded metric format for
 * metrics. Each line has the id of the current trace. The standard library for this would take a tenth of the cold-start budget for the little that is used here.
 * @param namespace of the metrics; they are written at every log level, because alarms depend on them
 */
export const createLogger = (
  level: Level,
  write: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
  namespace = 'Platform',
): Logger => {
  const least = LEVELS.indexOf(level)
  const log = (at: Exclude<Level, 'silent'>, message: string, fields: Record<string, unknown> = {}): void => {
    if (LEVELS.indexOf(at) < least) return
    write(
      line({
        level: at,
        time: iso(Date.now()),
        message,
        trace_id: currentTraceId(),
        ...context.getStore(),
        ...fields,
      }),
    )
  }
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    metrics(message, dimensions, values, fields) {
      if (level === 'silent') return
      write(
        line({
          _aws: {
            Timestamp: Date.now(),
            CloudWatchMetrics: [
              {
                Namespace: namespace,
                Dimensions: [Object.keys(dimensions)],
                Metrics: Object.entries(values).map(([Name, [, Unit]]) => ({ Name, Unit })),
              },
            ],
          },
          level: 'info',
          time: iso(Date.now()),
          message,
          trace_id: currentTraceId(),
          ...context.getStore(),
          ...dimensions,
          ...Object.fromEntries(Object.entries(values).map(([name, [value]]) => [name, value])),
          ...(least <= LEVELS.indexOf('info') && fields),
        }),
      )
    },
  }
}

const line = (entry: Record<string, unknown>): string =>
  JSON.stringify(entry, (_, value) => (value instanceof Error ? plain(value) : value)).replaceAll(SECRET, '[secret]')

const plain = (error: Error): Record<string, unknown> => ({
  name: error.name,
  message: error.message,
  stack: error.stack,
  ...(error.cause !== undefined && { cause: String(error.cause) }),
})
