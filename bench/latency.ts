import { measureAsking } from './latency/asking.ts'
import { applyLoad, type Latencies, type Load } from './latency/load.ts'
import { createTenant } from './latency/setup.ts'
import { DONE, startLocalRun } from './local-run.ts'
import { fixed, type Table } from './report/table.ts'
import { median, percentile } from './statistics.ts'

/** Limit of the time from a commit to the request that reports it, in the local run. */
const P95_LIMIT_MS = 500

const TENANTS = 3
const RECEIVERS_EACH = 2

export interface LatencyOptions extends Partial<Load> {}

/** Measures runs and their webhooks over HTTP against the local platform, first undisturbed, then with a receiver that hangs. */
export const measureLatency = async ({ seconds = 10, runsPerSecond = 2 }: LatencyOptions = {}) => {
  const { call, open, close } = await startLocalRun('latency')
  try {
    const agent = await open()
    agent.answer({ kind: 'answer', status: 200, body: DONE })
    const tenants = []
    for (let i = 0; i < TENANTS; i++) {
      const receivers = await Promise.all(Array.from({ length: RECEIVERS_EACH }, open))
      tenants.push(await createTenant(call, agent.url, receivers))
    }
    const load = { seconds, runsPerSecond }
    // Excludes modules that are loaded at their first use.
    await applyLoad(call, agent, tenants, { seconds: 2, runsPerSecond: 2 })
    const asking = await measureAsking(call)
    const calm = await applyLoad(call, agent, tenants, load)
    const hanging = await open()
    hanging.answer({ kind: 'hang' })
    const subscription = { url: hanging.url, events: ['run.*'] }
    await call('POST', '/api/v1/webhooks', tenants[0]?.headers ?? {}, subscription)
    const beside = await applyLoad(call, agent, tenants, load)
    return { load, asking, calm, beside, hung: hanging.requests.length }
  } finally {
    await close()
  }
}

const row = (name: string, values: readonly number[], lost: string): string[] => {
  const p95 = percentile(values, 0.95)
  return [
    name,
    String(values.length),
    fixed(percentile(values, 0.5), 0),
    fixed(p95, 0),
    fixed(percentile(values, 1), 0),
    lost,
    p95 < P95_LIMIT_MS ? 'kept' : 'OVER',
  ]
}

const rows = (name: string, { dispatch, deliveries, lost }: Latencies): string[][] => [
  row(`run dispatch, ${name}`, dispatch, String(lost)),
  row(`webhook deliveries, ${name}`, deliveries, String(lost)),
]

/** Builds the tables of the measurements. */
export const latencyTables = ({
  load,
  asking,
  calm,
  beside,
  hung,
}: Awaited<ReturnType<typeof measureLatency>>): Table[] => [
  {
    title: 'From the commit to the request, in the local run',
    columns: ['what', 'arrived', 'p50 ms', 'p95 ms', 'max ms', 'lost', `p95 below ${P95_LIMIT_MS}`],
    rows: [...rows('all receivers well', calm), ...rows('one receiver hanging', beside)],
    notes: [
      `${TENANTS} installations with ${RECEIVERS_EACH} webhook receivers each start ${load.runsPerSecond} runs a second each for ${load.seconds} seconds, over HTTP. The agent answers at once. Times are from created_at of the run or the event to the request’s arrival. Platform, agent, receivers and load share one machine and the loopback interface.`,
      `In the second half, the first installation has another receiver that accepts requests and never answers (it got ${hung}). The rows show all others. “Lost” counts runs and deliveries together.`,
    ],
  },
  {
    title: 'Time that `ask_agent` adds to the asked agent’s own time, in the local run',
    columns: ['the agent answers after', 'calls', 'p50 ms', 'p95 ms', 'max ms', 'store calls'],
    rows: asking.map(({ answersAfter, added, storeCalls }) => [
      `${answersAfter} ms`,
      String(added.length),
      ...[0.5, 0.95, 1].map((part) => fixed(percentile(added, part), 0)),
      fixed(median(storeCalls), 0),
    ]),
    notes: [
      'Calls over HTTP, one after the other, from the call to its answer, without the target agent’s own time. What remains is admission, and the run: the call sends it to the agent itself.',
      'Store calls: those of the request, in one process (median).',
    ],
  },
]
