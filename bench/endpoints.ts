import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Consumption } from './endpoints/meter.ts'
import { nameOf, type Scenario } from './endpoints/scenario.ts'
import { scenariosOf } from './endpoints/scenarios.ts'
import { type Stage, startStage } from './endpoints/stage.ts'
import { BATCH, measureWorkers, type RunPart, type Traces } from './endpoints/workers.ts'
import { fixed, type Table } from './report/table.ts'

export interface Measured {
  name: string
  consumption: Consumption
}

type Group = Endpoint['group']

/** The platform's use of the store, by request and by message of the workers. */
export interface StoreUse {
  requests: (Measured & { group: Group })[]
  workers: Measured[]
  traces: Traces
  /** Parts of a run that reports steps and calls a tool. */
  longRun: RunPart[]
  /** Requests with an unexpected answer. */
  failures: string[]
}

/** Pause between requests: long enough to refill every rate limit, short enough that no token or code expires. */
const REST_MS = 30_000

const measure = async (stage: Stage, scenario: Scenario): Promise<Consumption> => {
  const { send, works } = await scenario.prepare(stage)
  await stage.platform.drain()
  stage.platform.clock.advance(REST_MS)
  const metered = () => stage.meter.during(send)
  // Calls of workers aren't counted, not even those that the request waits for.
  const { consumption } = await (works ? stage.whileWorking(metered) : metered())
  return consumption
}

export interface StoreUseOptions {
  /** Measures only requests whose name contains this, and no workers. */
  only?: string
}

/** Measures every declared endpoint, and the workers behind a run and a delivery. */
export const measureStoreUse = async ({ only = '' }: StoreUseOptions = {}): Promise<StoreUse> => {
  const stage = await startStage()
  try {
    const requests: StoreUse['requests'] = []
    const failures: string[] = []
    const endpoints = Object.values(requestFunctions).flat()
    for (const [endpoint, scenario] of endpoints.flatMap((one) =>
      scenariosOf(one).map((each) => [one, each] as const),
    )) {
      const name = nameOf(scenario)
      if (!name.includes(only)) continue
      try {
        requests.push({ name, group: endpoint.group, consumption: await measure(stage, scenario) })
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : error}`)
      }
    }
    return {
      requests,
      ...(only
        ? { workers: [], traces: { alone: [], waited: [], subscribed: [] }, longRun: [] }
        : await measureWorkers(stage)),
      failures,
    }
  } finally {
    await stage.close()
  }
}

const GROUPS: Record<Group, string> = {
  api: 'Integration API',
  mcp: 'MCP',
  a2a: 'A2A',
  oauth: 'OAuth',
  connect: 'OAuth by the RFCs',
  console: 'Console',
  developer: 'Developer API',
  admin: 'Moderation',
  docs: 'Documentation',
}

const rowOf = ({ name, consumption }: Measured): string[] => [
  name,
  String(consumption.calls),
  String(consumption.roundTrips),
  fixed(consumption.readUnits, 1),
  fixed(consumption.writeUnits, 0),
]

/** Builds the tables of the measurements. */
export const storeUseTables = ({ requests, workers }: Pick<StoreUse, 'requests' | 'workers'>): Table[] => {
  const columns = ['calls', 'round trips', 'read units', 'write units']
  const notes = [
    'Round trips are sequential calls. Parallel calls count once. Units are computed by DynamoDB’s published rules from the sizes of the real items (bench/capacity.ts), including keys-only indexes. Reads are consistent unless they use an index.',
    'The worker of the table’s stream records audit entries. Their calls and units count with the request that made the entry, and their round trips nowhere. `tools/list` has listed the workspace’s agents before in the same function; the first time takes another round trip and reads their versions.',
    'Rate limits are full. While a bucket refills, a request makes another round trip and another write per bucket.',
    '`ask_agent` and a test run wait for a run, so their number of reads depends on its duration. The streams are those of a run that has ended.',
  ]
  const groups = Object.entries(GROUPS) as [Group, string][]
  return [
    ...groups.map(([group, name], i) => ({
      title: `${name}: store use per request`,
      columns: ['endpoint', ...columns],
      rows: requests.filter((one) => one.group === group).map(rowOf),
      // The notes apply to every table and appear once.
      notes: i === groups.length - 1 ? notes : [],
    })),
    {
      title: 'Workers: store use per message',
      columns: ['message', ...columns],
      rows: workers.map(rowOf),
      notes: [
        'One message each. The agent answers at once, and the receiver accepts the delivery at the first attempt.',
        `The batch: ${BATCH.ended} runs that ended, of ${BATCH.agents} agents, each of a separate app in a separate workspace.`,
      ],
    },
  ]
}
