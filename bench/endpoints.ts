import { requestFunctions } from '#functions/registry.ts'
import { developerScenarios } from './endpoints/developer.ts'
import { integrationScenarios } from './endpoints/integration.ts'
import type { Consumption } from './endpoints/meter.ts'
import { oauthScenarios } from './endpoints/oauth.ts'
import { adminScenarios, consoleScenarios } from './endpoints/people.ts'
import type { Scenario } from './endpoints/scenario.ts'
import { type Stage, startStage } from './endpoints/stage.ts'
import { webhookScenarios } from './endpoints/webhooks.ts'
import { measureWorkers } from './endpoints/workers.ts'
import { fixed, type Table } from './report/table.ts'

export interface Measured {
  name: string
  consumption: Consumption
}

/** What the main job asks of the store: by request, and by message of the workers. */
export interface StoreUse {
  requests: Measured[]
  workers: Measured[]
  /** Endpoints that are served and have no scenario here. */
  unmeasured: string[]
  /** Requests that were not answered as they should. */
  failures: string[]
}

const SCENARIOS: Scenario[] = [
  ...integrationScenarios,
  ...webhookScenarios,
  ...oauthScenarios,
  ...consoleScenarios,
  ...developerScenarios,
  ...adminScenarios,
]

/** Long enough that every rate limit is at rest again, short enough that no token or code has expired. */
const REST_MS = 30_000

const served = (): string[] =>
  Object.values(requestFunctions)
    .flat()
    .filter(({ group }) => group !== 'docs')
    .map(({ method, path }) => `${method} ${path}`)

/** A scenario's name in the tables: the endpoint, and what it does where it is there more than once. */
export const nameOf = ({ endpoint, variant }: Pick<Scenario, 'endpoint' | 'variant'>): string =>
  variant ? `${endpoint}: ${variant}` : endpoint

const measure = async (stage: Stage, scenario: Scenario): Promise<Measured> => {
  const send = await scenario.prepare(stage)
  await stage.platform.drain()
  stage.platform.clock.advance(REST_MS)
  const metered = () => stage.meter.during(send)
  // A test run's answer waits for the dispatcher, whose own calls count as the worker's.
  const { consumption } = await (scenario.endpoint.endsWith('/test-run') ? stage.whileWorking(metered) : metered())
  return { name: nameOf(scenario), consumption }
}

/** Measures every endpoint of the main job that is served, and the workers behind a run and a delivery. */
export const measureStoreUse = async (): Promise<StoreUse> => {
  const stage = await startStage()
  try {
    const here = new Set(served())
    const requests: Measured[] = []
    const failures: string[] = []
    for (const scenario of SCENARIOS) {
      if (!here.has(scenario.endpoint)) continue
      try {
        requests.push(await measure(stage, scenario))
      } catch (error) {
        failures.push(`${nameOf(scenario)}: ${error instanceof Error ? error.message : error}`)
      }
    }
    const covered = new Set(SCENARIOS.map(({ endpoint }) => endpoint))
    const unmeasured = [...here].filter((endpoint) => !covered.has(endpoint))
    return { requests, workers: await measureWorkers(stage), unmeasured, failures }
  } finally {
    await stage.close()
  }
}

const rowOf = ({ name, consumption }: Measured): string[] => [
  name,
  String(consumption.calls),
  String(consumption.roundTrips),
  fixed(consumption.readUnits, 1),
  fixed(consumption.writeUnits, 0),
]

/** The tables of what was measured. */
export const storeUseTables = ({ requests, workers, unmeasured }: StoreUse): Table[] => {
  const columns = ['calls', 'round trips', 'read units', 'write units']
  const notes = [
    'Round trips: calls one after the other; those made at the same time count once. Units by DynamoDB’s published rules from the sizes of the real items (bench/capacity.ts), the keys-only indexes included; reads are consistent unless they go through an index.',
    'With rate limits at rest. While a bucket refills, a request makes one more round trip and one more write per bucket.',
    ...(unmeasured.length ? [`Served and not part of this table: ${unmeasured.join(', ')}.`] : []),
  ]
  return [
    {
      title: 'Endpoints: what they ask of the store',
      columns: ['endpoint', ...columns],
      rows: requests.map(rowOf),
      notes,
    },
    {
      title: 'Workers: what one message asks of the store',
      columns: ['message', ...columns],
      rows: workers.map(rowOf),
      notes: ['One message each; the agent answers at once, the receiver takes the delivery at its first attempt.'],
    },
  ]
}
