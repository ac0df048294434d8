import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { exitForUsage, readCommandLine } from '#ops/command.ts'
import { bundles } from './bundles.ts'
import { cpuTables, measureCpu } from './cpu.ts'
import { dayTables, measureDay } from './day.ts'
import { byFile, DERIVED, type DerivedPart, isDerived } from './derived.ts'
import { measureStoreUse, type StoreUse } from './endpoints.ts'
import { faultTables, holds, measureFaults, RETRY_DELAYS } from './faults.ts'
import { isKept, isolationTables, measureIsolation } from './isolation.ts'
import { latencyTables, measureLatency } from './latency.ts'
import { listTables, measureLists } from './lists.ts'
import { liveTables, measureLive } from './live.ts'
import { measureNewcomer, newcomerTables } from './newcomer.ts'
import { filesOf } from './record.ts'
import { readRecorded, withCpu } from './recorded.ts'
import { measureRecords, recordsTables } from './records.ts'
import { writeResults } from './report/document.ts'
import { machine } from './report/machine.ts'
import { plainTable, type Table } from './report/table.ts'
import { isInTime, measureSchedules, scheduleTables } from './schedules.ts'
import { measureSoak, soakTables } from './soak.ts'
import { measureThroughput, throughputTables } from './throughput.ts'

const HELP = `npm run bench -- [part …] [--markdown]

  bundles    size and cold import of every function (run npm run build first)
  endpoints  calls, round trips, read and write units of every endpoint (run npm run build first) and of the workers
  lists      calls and read units of pages of every list, with few and with many records
  cpu        warm CPU of requests compared to a bare handler
  latency    time from the commit to the request, for run dispatch and webhook deliveries over HTTP; overhead of ask_agent
  live       time from a change to somebody else's open page over its live connection
  isolation  effect of a hanging receiver, a hanging agent, waiting calls and a caller over its limit on other tenants
  throughput calls, runs and deliveries per second of the local run, with a profile of their CPU
  cost       cost of a million calls, runs and deliveries, from the units above and the recorded CPU, and every write of one run
  protocols  cost of A2A and MCP calls for the store, from the units above
  tabs       cost of 10,000 open tabs
  records    the main operations with 1,000 to 1,000,000 records; takes minutes and 5 GB, so it runs only when named
  workload   monthly cost of 1, 100 and 10,000 events per second, and the quotas that they reach first
  faults     events through the local run while workers die and everything around them fails; takes minutes, so it
             runs only when named; exits with 1 if anything is lost
  schedules  seconds from their time to the start of 10,000 schedules that fall due at one moment, and of others' beside a
             workspace's thousand; takes minutes, so it runs only when named; exits with 1 if the p95 is over 60 s
  soak       runs per second and memory of npm start over five minutes of runs by eight clients; runs only when named
  day        memory, open files, data and latency of npm start over two hours of one run a second, with streams and pages
             open, then ten starts of the same folder; runs only when named
  newcomer   time from an empty folder to an app in review, by the command line and by the portal; runs only when named
  idle       cost of a month without traffic, from the templates

  --markdown     also write the tables of measured parts into docs/performance.md and docs/scale.md, detailed ones into
                 bench/results. npm run record writes the tables that follow from the code
  --samples N    pairs of processes for each bundle (15)
  --rounds N     rounds for the CPU of each request (8), for isolation (3), records (10) and newcomer (3)
  --only TEXT    measure only subjects whose name contains this, for cpu, lists, isolation and throughput
  --records N    records of each kind, for lists (10000; 100000 take about ten minutes and 3 GB), or in total, for records (1000000)
  --seconds N    seconds of load, for latency (10, twice), live (10), each round of isolation (8), each subject of throughput (10), soak (300), day (7200)
  --poll MS      interval at which clients read their runs, for throughput (they wait in the request that starts a run)
  --events N     number of events, for faults (2000; 100000 take about an hour and 4 GB of memory)
  --seed N       seed of the random faults (1)`

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: {
    markdown: { type: 'boolean', default: false },
    samples: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    records: { type: 'string' },
    seconds: { type: 'string' },
    poll: { type: 'string' },
    events: { type: 'string' },
    seed: { type: 'string' },
  },
})

/** Reads a numeric option. Returns an empty object if it is absent. */
const given = <N extends 'samples' | 'rounds' | 'records' | 'seconds' | 'poll' | 'events' | 'seed'>(
  name: N,
): { [name in N]?: number } => {
  const text = values[name]
  if (text === undefined) return {}
  if (/^[1-9]\d*$/.test(text)) return { [name]: Number(text) } as { [name in N]?: number }
  return exitForUsage(`--${name} takes a whole number of at least 1, not ${text}`)
}

const rounds = given('rounds')
const seconds = given('seconds')
const { records } = given('records')
const { seed = 1 } = given('seed')

const reportFailures = ({ failures }: StoreUse): void => {
  for (const failure of failures) console.error(`failed: ${failure}`)
  if (failures.length > 0) process.exitCode = 1
}

/** Number of records of each kind at the start and at the end. */
const sizes = [100, records ?? 10_000]

const most = records ?? 1_000_000
const manySizes = [1_000, most / 10, most]

/** Measured once for all parts that are computed from it. */
let store: Promise<StoreUse> | undefined

/** Takes the tables from the store's use as it is measured now, and from the recorded CPU. */
const derived = (part: DerivedPart) => async () => {
  if (!OF_THE_STORE.has(part)) return DERIVED[part](readRecorded())
  store ??= measureStoreUse()
  const use = await store
  reportFailures(use)
  return DERIVED[part]({ ...readRecorded(), store: use })
}

const PARTS: Record<string, () => Promise<Table[]>> = {
  bundles: () => bundles(given('samples')),
  endpoints: derived('endpoints'),
  lists: async () => listTables(await measureLists({ sizes, only: values.only }), sizes),
  cpu: async () => {
    const uses = await measureCpu({ ...rounds, only: values.only })
    if (values.markdown) {
      const files = await filesOf(withCpu(readRecorded(), uses))
      for (const [file, text] of files) writeFileSync(path.resolve(import.meta.dirname, '..', file), text)
    }
    return cpuTables(uses)
  },
  isolation: async () => {
    const measured = await measureIsolation({ ...rounds, ...seconds, only: values.only })
    if (!isKept(measured)) process.exitCode = 1
    return isolationTables(measured)
  },
  latency: async () => latencyTables(await measureLatency(seconds)),
  live: async () => liveTables(await measureLive(seconds)),
  throughput: async () =>
    throughputTables(await measureThroughput({ ...seconds, ...given('poll'), only: values.only })),
  cost: derived('cost'),
  protocols: derived('protocols'),
  workload: derived('workload'),
  tabs: derived('tabs'),
  records: async () => recordsTables(await measureRecords({ ...rounds, sizes: manySizes }), manySizes),
  faults: async () => {
    const played = await measureFaults({ events: 2_000, ...given('events'), seed })
    if (!holds(played)) process.exitCode = 1
    return faultTables(played, { seed, retryDelays: RETRY_DELAYS })
  },
  schedules: async () => {
    const measured = await measureSchedules()
    if (!isInTime(measured)) process.exitCode = 1
    return scheduleTables(measured)
  },
  soak: async () => soakTables(await measureSoak(seconds)),
  day: async () => dayTables(await measureDay(seconds)),
  newcomer: async () => newcomerTables(await measureNewcomer(rounds)),
  idle: derived('idle'),
}

/** Parts that send every request. Their numbers are incomplete if one fails. */
const OF_THE_STORE = new Set(['endpoints', 'cost', 'protocols', 'workload'])
/** Parts that need `npm run build`. */
const OF_A_BUILD = new Set(['bundles', ...OF_THE_STORE])
const BUILT = path.resolve(import.meta.dirname, '../dist/openapi/openapi.json')
const ONLY_NAMED = new Set(['records', 'faults', 'schedules', 'soak', 'day', 'newcomer'])

const unknown = positionals.find((part) => !(part in PARTS))
if (unknown !== undefined) exitForUsage(`Unknown part '${unknown}'`)

const chosen = positionals.length > 0 ? positionals : Object.keys(PARTS).filter((part) => !ONLY_NAMED.has(part))
const unbuilt = chosen.filter((part) => OF_A_BUILD.has(part))
if (unbuilt.length > 0 && !existsSync(BUILT)) {
  console.error(`Measuring ${unbuilt.join(' and ')} needs a build. Run: npm run build`)
  process.exit(1)
}
const where = machine()
console.log(where)
for (const part of chosen) {
  const tables = (await PARTS[part]?.()) ?? []
  for (const table of tables) console.log(plainTable(table))
  if (!values.markdown || isDerived(part)) continue
  for (const [file, shown] of byFile(part, tables)) await writeResults(file, part, shown, where)
}
