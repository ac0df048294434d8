import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { type FunctionPlan, planFunctions } from '#infra/plan.ts'
import { KEYS_FRESH } from '#shared/adapters/secrets.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { RING_NAMES } from '#shared/kernel/ports/keys.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { logBytes } from './cost/logs.ts'
import { type Cost, costOf, seconds, total, type Usage } from './cost/usage.ts'
import { MCP_CALL, MCP_LIST } from './endpoints/mcp.ts'
import { BATCH, OCCURRENCE, type StepWrites, WAITED } from './endpoints/workers.ts'
import type { Measured, StoreUse } from './endpoints.ts'
import { PRICES } from './prices.ts'
import { fixed, type Table } from './report/table.ts'

/** Mix of API calls, by weight. Names as in the table of endpoints. */
export const CALL_MIX: Record<string, number> = {
  'GET /api/v1/me': 10,
  'GET /api/v1/runs: 20 of them': 15,
  'GET /api/v1/runs/{id}': 25,
  'GET /api/v1/events: since an earlier one': 20,
  'POST /api/v1/runs/{id}/steps': 15,
  'POST /api/v1/tools/{name}/invoke: list_runs': 5,
  'GET /console/runs: 20 of them': 5,
  'GET /console/runs/{id}': 3,
  'POST /oauth/token: a refresh token': 2,
}

/** Mix of a host's calls, by weight. A host lists the tools when it starts, then calls them. */
export const MCP_MIX: Record<string, number> = { [`POST /mcp: ${MCP_LIST}`]: 10, [`POST /mcp: ${MCP_CALL}`]: 90 }

/** Assumed values that can't be measured here, in milliseconds and bytes. */
export const ASSUMED = {
  storeRoundTripMs: 5,
  agentAnswerMs: 1_000,
  receiverAnswerMs: 200,
  answerBytes: 2_000,
  requestBytes: 2_000,
} as const

/** A message is sent, received and deleted. Batches make it cheaper under load. */
const REQUESTS_PER_MESSAGE = 3

/** Its start and its end, which the subscription of the measured run gets both. */
const EVENTS_OF_A_RUN = 2

/** Measurements from which the costs are computed. */
export interface Sources {
  store: Omit<StoreUse, 'failures'>
  /** Microseconds of CPU, by request. */
  cpu: Readonly<Record<string, number>>
}

const READS_SECRET: ReadonlySet<Capability> = new Set<Capability>([
  ...RING_NAMES.map((ring): Capability => `keys:${ring}`),
  'bot',
  'model',
])

/** Counts the secrets that a function reads. */
export const secretsOf = ({ capabilities }: Pick<FunctionPlan, 'capabilities'>): number =>
  capabilities.filter((capability) => READS_SECRET.has(capability)).length

/** Reads of secrets in a second of an instance that is always busy. */
const secretReadsPerSecond = (plan: Pick<FunctionPlan, 'capabilities'>): number =>
  secretsOf(plan) / (KEYS_FRESH / 1_000)

type PlanOf = (name: string) => FunctionPlan

const planOf = (): PlanOf => {
  const plans = planFunctions({ requestFunctions, workerFunctions })
  return (name) => {
    const found = plans.find((plan) => plan.name === name)
    if (!found) throw new Error(`There is no function ${name}`)
    return found
  }
}

const find = (all: readonly Measured[], name: string): Measured['consumption'] => {
  const found = all.find((one) => one.name === name)
  if (!found) throw new Error(`Nothing was measured for ${name}`)
  return found.consumption
}

/** Computes the usage of one execution that does the measured work and waits for an external server. */
const execution = (
  { cpu }: Sources,
  { name, consumption }: Measured,
  plan: FunctionPlan,
  outsideMs = 0,
): Partial<Usage> => {
  const measured = cpu[name]
  const cpuMs = measured === undefined ? consumption.calls * cpuMsPerCall(cpu) : measured / 1_000
  const waitMs = consumption.roundTrips * ASSUMED.storeRoundTripMs + outsideMs
  return {
    invocations: 1,
    ...running(plan, seconds({ cpuMs, waitMs, memoryMb: plan.memoryMb })),
    readUnits: consumption.readUnits,
    writeUnits: consumption.writeUnits,
    dueUnits: consumption.dueUnits,
    counterUnits: consumption.counterUnits,
    storedBytes: consumption.storedBytes,
  }
}

/** Computes what a function takes while it runs. */
const running = (plan: FunctionPlan, time: number): Partial<Usage> => ({
  gbSeconds: time * (plan.memoryMb / 1_024),
  secretReads: time * secretReadsPerSecond(plan),
})

/** Returns the milliseconds for which a worker has a message: its round trips, its CPU on a whole core, and external waits. */
export const millisecondsOf = ({ store, cpu }: Sources, message: string, outsideMs: number): number => {
  const { calls, roundTrips } = find(store.workers, message)
  return roundTrips * ASSUMED.storeRoundTripMs + calls * cpuMsPerCall(cpu) + outsideMs
}

/** Estimates the CPU per call to the store, for work that wasn't measured separately. */
const cpuMsPerCall = (cpu: Sources['cpu']): number => {
  const me = cpu['GET /api/v1/me']
  return me === undefined ? 1 : me / 3 / 1_000
}

const apiCall = (sources: Sources, name: string, plan: FunctionPlan): Usage =>
  total(
    [execution(sources, { name, consumption: find(sources.store.requests, name) }, plan), 1],
    [{ apiRequests: 1, bytesOut: ASSUMED.answerBytes, logBytes: logBytes.ofRequest }, 1],
  )

const worker = (sources: Sources, message: string, plan: FunctionPlan, outsideMs = 0): Usage =>
  total(
    [execution(sources, { name: message, consumption: find(sources.store.workers, message) }, plan, outsideMs), 1],
    ...(outsideMs > 0 ? [[{ logBytes: logBytes.ofCall }, 1] as [Partial<Usage>, number]] : []),
  )

/** Computes the usage of one of each. */
const usages = (sources: Sources): [name: string, usage: Usage][] => {
  const { call, mcpCall, run, waitedRun, scheduledRun, busyRun, longRun, delivery } = usesOf(sources)
  return [
    ['API calls (the mix below)', call],
    ['MCP calls (the mix below)', mcpCall],
    ['runs, from the request to the agent’s answer', run],
    ['the same, their caller waiting (`?wait=30`)', waitedRun],
    ['runs that a schedule starts, from its time to the agent’s answer', scheduledRun],
    ['runs under load', busyRun],
    ['runs with 202, three steps, a tool call and completion', longRun],
    ['webhook deliveries, at the first attempt', delivery],
  ]
}

/**
 * Computes the usage of an API call of the mix, a run with its events, and a delivery of one of them. Under load, the statistics
 * count a hundred runs at once.
 */
export const usesOf = (
  sources: Sources,
): Record<'call' | 'mcpCall' | 'run' | 'waitedRun' | 'scheduledRun' | 'busyRun' | 'longRun' | 'delivery', Usage> => {
  const plan = planOf()
  const mixed = (mix: Record<string, number>, of: FunctionPlan): Usage => {
    const weights = Object.values(mix).reduce((sum, weight) => sum + weight, 0)
    return total(
      ...Object.entries(mix).map(([name, weight]): [Usage, number] => [apiCall(sources, name, of), weight / weights]),
    )
  }
  const call = mixed(CALL_MIX, plan('api'))
  const mcpCall = mixed(MCP_MIX, plan('api-calls'))
  const dispatch = (suffix = '') =>
    worker(sources, `dispatch: run.created${suffix}`, plan('dispatch'), ASSUMED.agentAnswerMs)
  const fair = { queueRequests: REQUESTS_PER_MESSAGE, fairRequests: REQUESTS_PER_MESSAGE }
  const uncounted = total(
    [apiCall(sources, 'POST /api/v1/runs', plan('api-calls')), 1],
    [{ ...fair, bytesOut: ASSUMED.requestBytes }, 1],
    [dispatch(), 1],
    [{ queueRequests: REQUESTS_PER_MESSAGE }, 1],
  )
  const counting = worker(sources, 'statistics: run.succeeded', plan('statistics'))
  const run = total([uncounted, 1], [counting, 1])
  const busyRun = total([uncounted, 1], [worker(sources, BATCH.name, plan('statistics')), 1 / BATCH.ended])
  const inPlace = `POST /api/v1/runs${WAITED}`
  const waitedRun = total(
    [worker(sources, inPlace, plan('api-calls'), ASSUMED.agentAnswerMs), 1],
    [{ apiRequests: 1, bytesOut: ASSUMED.answerBytes, logBytes: logBytes.ofRequest }, 1],
    [{ ...fair, bytesOut: ASSUMED.requestBytes }, 1],
    [worker(sources, `fanout${WAITED}`, plan('fan-out')), 1],
    [{ queueRequests: REQUESTS_PER_MESSAGE }, 1],
    [worker(sources, `statistics: run.succeeded${WAITED}`, plan('statistics')), 1],
  )
  const scheduledRun = total(
    [run, 1],
    [apiCall(sources, 'POST /api/v1/runs', plan('api-calls')), -1],
    // A sweep starts what is due together, so no invocation is its own.
    [{ ...worker(sources, OCCURRENCE, plan('sweeper')), invocations: 0 }, 1],
  )
  const delivery = total(
    [dispatch(', one subscription'), 1 / EVENTS_OF_A_RUN],
    [dispatch(), -1 / EVENTS_OF_A_RUN],
    [{ ...fair, bytesOut: ASSUMED.requestBytes }, 1],
    [worker(sources, 'delivery', plan('delivery'), ASSUMED.receiverAnswerMs), 1],
  )
  return { call, mcpCall, run, waitedRun, scheduledRun, busyRun, longRun: longRunOf(sources, plan), delivery }
}

/** Computes the usage of a run that reports steps and calls a tool, each of whose events and messages comes alone. */
const longRunOf = (sources: Sources, plan: PlanOf): Usage => {
  const nothing = { readUnits: 0, writeUnits: 0, dueUnits: 0, counterUnits: 0, storedBytes: 0 }
  const relay = { name: 'relay', consumption: { calls: 1, roundTrips: 1, ...nothing } }
  return total(
    ...sources.store.longRun.map((part): [Partial<Usage>, number] => {
      if (part.kind === 'event') return [total([execution(sources, relay, plan('relay')), 1], [{ busEvents: 1 }, 1]), 1]
      const { consumption, bytesOut } = part
      if (part.kind === 'request') {
        const request = execution(sources, { name: 'a request', consumption }, plan('api'))
        return [total([request, 1], [{ apiRequests: 1, bytesOut, logBytes: logBytes.ofRequest }, 1]), 1]
      }
      const worker = execution(sources, { name: part.queue, consumption }, plan(workerOf(part.queue)))
      const message = {
        queueRequests: REQUESTS_PER_MESSAGE,
        fairRequests: REQUESTS_PER_MESSAGE,
        bytesOut,
        logBytes: part.calls * logBytes.ofCall,
      }
      return [total([worker, 1], [message, 1]), 1]
    }),
  )
}

/** Name of the function that takes from a queue. */
const workerOf = (queue: QueueName): string =>
  Object.entries(workerFunctions).find(([, workers]) =>
    workers.some(({ source }) => source.kind === 'queue' && source.queue === queue),
  )?.[0] ?? queue

const dollars = (value: number): string => value.toFixed(2)

/** Titles of the columns of {@link Cost}, in its order. */
export const SERVICES = [
  'API Gateway',
  'web ACL',
  'Lambda',
  'DynamoDB',
  'SQS',
  'EventBridge',
  'logs',
  'secrets',
  'transfer',
] as const

/** The trace of its request, and that of its message. */
const TRACES_OF_A_RUN = 2

/** Dollars of a million seconds in which a function does nothing but wait. */
const perSecond = ({ memoryMb }: FunctionPlan): string =>
  `$${(1e6 * (memoryMb / 1_024) * PRICES.lambdaArmGbSecond).toFixed(2)}`

const row = (name: string, cost: Cost): string[] => {
  const { gateway, webAcl, lambda, dynamodb, sqs, bus, logs, secrets, transfer } = cost
  const parts = [gateway, webAcl, lambda, dynamodb, sqs, bus, logs, secrets, transfer]
  return [name, ...[...parts, sumOf(parts)].map(dollars)]
}

/** Builds the tables with the cost of a million of each, in dollars. */
export const costTables = (sources: Sources): Table[] => {
  const shown = (mix: Record<string, number>) =>
    Object.entries(mix)
      .map(([name, weight]) => `${weight} % ${name}`)
      .join(', ')
  const each = usages(sources)
  const plan = planOf()
  return [
    {
      title: `Cost of a million, in US dollars (${PRICES.region}, list prices of ${PRICES.date})`,
      columns: ['a million', ...SERVICES, 'together'],
      rows: each.map(([name, usage]) => row(name, costOf(scaled(usage)))),
      notes: [
        'Check the prices in bench/prices.ts before you rely on these sums. Free tiers, discounts, storage and backups aren’t included. What a month costs without traffic is under “A stage without traffic”. Lambda reads the table’s stream free of charge.',
        'Web ACL: its requests, in stages with `waf`. Secrets: each instance reads those of its function every five minutes. The table assumes busy instances; idle ones read no more.',
        `Tracing (\`tracing\`) is off by default. X-Ray charges $${PRICES.million.traces.toFixed(2)} a million traces and records the first request of each second and 5 % of the others. While a stage gets less than one a second, every request and every message is recorded: $${PRICES.million.traces.toFixed(2)} a million API calls and $${(TRACES_OF_A_RUN * PRICES.million.traces).toFixed(2)} a million runs.`,
        `Lambda (arm64): a lower bound, from the CPU measured here at the share of a core that comes with the function’s memory, and ${ASSUMED.storeRoundTripMs} ms for each sequential round trip to the store. The agent answers in ${ASSUMED.agentAnswerMs} ms, a receiver in ${ASSUMED.receiverAnswerMs} ms; ${logBytes.ofRequest} bytes of log for each request, in the lines of the function and of the gateway, and ${logBytes.ofCall} for each call to an agent or a receiver; bodies of ${ASSUMED.answerBytes} bytes go out; of the run with 202, what goes out is counted, with headers. Every message takes ${REQUESTS_PER_MESSAGE} requests to its queue and an invocation of its own; batches make it cheaper.`,
        `A function that waits for a run’s end costs ${perSecond(plan('api-calls'))} a million seconds, at ${plan('api-calls').memoryMb.toLocaleString('en')} MB. Its reads of the run aren’t included.`,
        'A run consists of POST /api/v1/runs, one dispatch, which also brings its two events into the feed, and a message to the statistics, which count it. One whose caller waits is carried out by the request, and its events are brought by a message to the fan-out. Under load, a hundred runs are counted at once, as in the last table of the endpoints. A delivery consists of what a subscription adds to an event, and the delivery itself.',
        `API calls: ${shown(CALL_MIX)}.`,
        `MCP calls: ${shown(MCP_MIX)}. A call of an agent’s tool costs a run as well, and the second for which the agent works.`,
      ],
    },
    {
      title: 'Usage of one of each',
      columns: [
        'one',
        'read units',
        'write units',
        'invocations',
        'GB-seconds',
        'queue requests',
        'bus events',
        'secret reads',
      ],
      rows: each.map(([name, usage]) => [
        name,
        fixed(usage.readUnits, 1),
        fixed(usage.writeUnits, 1),
        fixed(usage.invocations, 1),
        fixed(usage.gbSeconds, 4),
        fixed(usage.queueRequests, 0),
        fixed(usage.busEvents, 0),
        fixed(usage.secretReads, 4),
      ]),
    },
    traceTable('Every write of one run', sources.store.traces.alone),
    traceTable('Every write of one run that its request waits for', sources.store.traces.waited),
    traceTable('Every write of one run whose two events a webhook gets', sources.store.traces.subscribed),
  ]
}

/** Builds a table with every write of one run. Steps that write nothing are left out. */
const traceTable = (title: string, trace: readonly StepWrites[]): Table => {
  const steps = trace
    .map(({ step, writes }) => ({ step, writes, units: unitsOf(writes) }))
    .filter((one) => one.units > 0)
  return {
    title,
    document: 'results',
    columns: ['step', 'entity', 'write', 'units of the item', 'units of its indexes'],
    rows: steps.flatMap(({ step, writes, units }) => [
      [step, '', 'together', fixed(units, 0), ''],
      ...writes.map(({ entity, operation, transactional, itemUnits, indexUnits }) => [
        '',
        entity,
        transactional ? `${operation}, in a transaction` : operation,
        fixed(itemUnits, 0),
        fixed(indexUnits, 0),
      ]),
    ]),
    notes: [
      `${fixed(
        steps.reduce((sum, { units }) => sum + units, 0),
        0,
      )} write units, the run counted alone. An item in a transaction takes twice its units.`,
    ],
  }
}

const sumOf = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0)

const unitsOf = (writes: StepWrites['writes']): number =>
  writes.reduce((sum, { itemUnits, indexUnits }) => sum + itemUnits + indexUnits, 0)

const scaled = (usage: Usage): Usage => total([usage, 1e6])
