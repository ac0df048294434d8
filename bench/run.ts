import path from 'node:path'
import { readCommandLine } from '#infra/operator/command.ts'
import { Settings } from '#infra/settings.ts'
import { bundles } from './bundles.ts'
import { costTables } from './cost.ts'
import { type CpuUse, cpuTables, measureCpu } from './cpu.ts'
import { measureStoreUse, type StoreUse, storeUseTables } from './endpoints.ts'
import { faultTables, holds, measureFaults, RETRY_DELAYS } from './faults.ts'
import { idleTables } from './idle.ts'
import { isKept, isolationTables, measureIsolation } from './isolation.ts'
import { latencyTables, measureLatency } from './latency.ts'
import { libraries } from './libraries.ts'
import { listTables, measureLists } from './lists.ts'
import { measureOauth, oauthTables } from './oauth.ts'
import { measureRecords, recordsTables } from './records.ts'
import { writeResults } from './report/document.ts'
import { machine } from './report/machine.ts'
import { plainTable, type Table } from './report/table.ts'
import { measureThroughput, throughputTables } from './throughput.ts'
import { workloadTables } from './workload.ts'

const HELP = `npm run bench -- [part …] [--markdown]

  bundles    size and cold import of every function (npm run build first)
  endpoints  calls, round trips, read and write units of every endpoint (npm run build first), and of the workers
  lists      calls and read units of pages of every list, with few records and with many
  cpu        warm CPU of requests against a bare handler
  latency    from the commit to the request: run dispatch and webhook deliveries, over HTTP; what ask_agent adds
  isolation  what a hanging receiver, a hanging agent and a caller over its limit do to the others
  throughput calls, runs and deliveries a second of the local run, their CPU, and where it goes
  oauth      CPU, latency and store calls of token, refresh and introspection, beside oidc-provider
  cost       of a million calls, runs and deliveries, from the numbers above
  records    the main operations with 1,000 to 1,000,000 records; takes minutes and 5 GB, so it runs only when named
  workload   what 1, 100 and 10,000 events a second cost in a month, and which quota they meet first
  faults     events through the local run while workers die and everything around them fails; takes minutes, so it
             runs only when named; its exit code is 1 when anything is lost
  idle       of a month in which nobody calls, from the templates (npm run build first)
  libraries  what was weighed and not taken; installs packages into a temporary folder, so it runs only when named

  --markdown     write the tables into docs/performance.md, too
  --samples N    pairs of processes for each bundle (15)
  --rounds N     rounds for the CPU of each request (8; 24 for oauth), of isolation (3) and of records (10)
  --only TEXT    only what has this in its name, for cpu, lists, isolation and throughput
  --records N    of each kind, for lists (10000; 100000 take about ten minutes and 3 GB); in all, for records (1000000)
  --seconds N    of load, for latency (10, twice), each round of isolation (8), each subject of throughput (10)
  --events N     for faults (2000; 100000 take about an hour and 4 GB of memory)
  --seed N       of the dice, for faults (1)`

const DOCUMENT = path.resolve(import.meta.dirname, '../docs/performance.md')

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: {
    markdown: { type: 'boolean', default: false },
    samples: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    records: { type: 'string' },
    seconds: { type: 'string' },
    events: { type: 'string' },
    seed: { type: 'string' },
  },
})

/** An option that is a number; of what was not given, nothing. */
const given = <N extends 'samples' | 'rounds' | 'records' | 'seconds' | 'events' | 'seed'>(
  name: N,
): { [name in N]?: number } => {
  const text = values[name]
  if (text === undefined) return {}
  if (/^[1-9]\d*$/.test(text)) return { [name]: Number(text) } as { [name in N]?: number }
  console.error(`--${name} is a whole number of at least 1, not ${text}.`)
  process.exit(1)
}

const rounds = given('rounds')
const seconds = given('seconds')
const { records } = given('records')
const { seed = 1 } = given('seed')

/** What a stage has that sets nothing. */
const stageLimits = () => {
  const { throttle, directoryShards } = Settings.parse({})
  return { throttle: throttle.rate, shards: directoryShards }
}

const reportFailures = ({ failures }: StoreUse): void => {
  for (const failure of failures) console.error(`failed: ${failure}`)
  if (failures.length > 0) process.exitCode = 1
}

/** Records of each kind at first, and at the end. */
const sizes = [100, records ?? 10_000]

const most = records ?? 1_000_000
const manySizes = [1_000, most / 10, most]

// Measured once, although the costs need them, too.
let store: Promise<StoreUse> | undefined
let cpu: Promise<CpuUse[]> | undefined

const storeUse = async (): Promise<StoreUse> => {
  store ??= measureStoreUse()
  const use = await store
  reportFailures(use)
  return use
}

const cpuUse = (): Promise<CpuUse[]> => {
  cpu ??= measureCpu({ ...rounds, only: values.only })
  return cpu
}

const PARTS: Record<string, () => Promise<Table[]>> = {
  bundles: () => bundles(given('samples')),
  endpoints: async () => storeUseTables(await storeUse()),
  lists: async () => listTables(await measureLists({ sizes, only: values.only }), sizes),
  cpu: async () => cpuTables(await cpuUse()),
  isolation: async () => {
    const measured = await measureIsolation({ ...rounds, ...seconds, only: values.only })
    if (!isKept(measured)) process.exitCode = 1
    return isolationTables(measured)
  },
  latency: async () => latencyTables(await measureLatency(seconds)),
  throughput: async () => throughputTables(await measureThroughput({ ...seconds, only: values.only })),
  oauth: async () => oauthTables(await measureOauth(rounds)),
  cost: async () => costTables({ store: await storeUse(), cpu: await cpuUse() }),
  workload: async () => workloadTables({ store: await storeUse(), cpu: await cpuUse() }, stageLimits()),
  records: async () => recordsTables(await measureRecords({ ...rounds, sizes: manySizes }), manySizes),
  faults: async () => {
    const played = await measureFaults({ events: 2_000, ...given('events'), seed })
    if (!holds(played)) process.exitCode = 1
    return faultTables(played, { seed, retryDelays: RETRY_DELAYS })
  },
  idle: idleTables,
  libraries,
}

const ONLY_NAMED = new Set(['records', 'faults', 'libraries'])

const unknown = positionals.find((part) => !(part in PARTS))
if (unknown !== undefined) {
  console.error(`There is no part ${unknown}.\n\n${HELP}`)
  process.exit(1)
}

const where = machine()
console.log(where)
const chosen = positionals.length > 0 ? positionals : Object.keys(PARTS).filter((part) => !ONLY_NAMED.has(part))
for (const part of chosen) {
  const tables = (await PARTS[part]?.()) ?? []
  for (const table of tables) console.log(plainTable(table))
  if (values.markdown) await writeResults(DOCUMENT, part, where, tables)
}
