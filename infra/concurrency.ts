import { QUEUES } from '#shared/foundation/queues/index.ts'
import type { Config } from './config.ts'
import type { FunctionPlan } from './plan.ts'

/** Executions of response streams, which stay open for minutes. Without a limit, they could take the account's pool. */
const STREAMS = 80
/**
 * Executions of the function whose requests wait for agents, each of which holds one for up to two minutes. The limit keeps them
 * from taking those of all other requests.
 */
const WAITING = 250
/**
 * Executions of a worker that the table's stream or a schedule invokes. Each takes up to a hundred records at once, within
 * milliseconds, and what a full worker leaves is read again.
 */
const RELAY = 10
const SCHEDULED = 5
/** Executions for messages of open pages. Each takes milliseconds, so this is hundreds of messages a second. */
const SOCKETS = 20

/**
 * Executions for the staff's functions. Their limit keeps them from taking those of customers, and their reservation keeps them usable
 * while customers take all others: that is when the staff needs them.
 */
const STAFF: Record<string, number> = { admin: 15, 'admin-calls': 10 }

/** Reservations of functions that serve requests, which must leave each other room (docs/scale.md#bulkheads). */
const REQUESTS: Record<string, number> = { 'api-calls': WAITING, streams: STREAMS, ...STAFF }

/**
 * Returns the executions that production stages reserve for waiting requests, streams, the staff and workers. A worker gets as many as its queues may
 * use: it never waits for requests, and a backlog never takes the executions that requests need.
 */
const productionConcurrency = (
  plans: readonly FunctionPlan[],
  { queueConcurrency }: Pick<Config, 'queueConcurrency'>,
): Record<string, number> =>
  Object.fromEntries([
    ...plans.flatMap(({ name }) => (REQUESTS[name] === undefined ? [] : [[name, REQUESTS[name]] as const])),
    ...plans
      .filter(({ workers }) => workers.length > 0)
      .map(({ name, workers }) => {
        const each = workers.map(({ source }) => {
          if (source.kind === 'stream') return RELAY
          if (source.kind === 'schedule') return SCHEDULED
          if (source.kind === 'sockets') return SOCKETS
          return queueConcurrency[source.queue] ?? QUEUES[source.queue].maxConcurrency
        })
        return [name, each.reduce((sum, n) => sum + n, 0)] as const
      }),
  ])

/** Returns the executions that a stage reserves, by function: its setting, or else what production stages reserve. */
export const reservedBy = (
  plans: readonly FunctionPlan[],
  config: Pick<Config, 'queueConcurrency' | 'reservedConcurrency' | 'production'>,
): Record<string, number> =>
  config.reservedConcurrency ?? (config.production ? productionConcurrency(plans, config) : {})
