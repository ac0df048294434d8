import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundles } from './bundles.ts'
import { costTables } from './cost.ts'
import { type CpuUse, cpuTables, measureCpu } from './cpu.ts'
import { measureStoreUse, type StoreUse, storeUseTables } from './endpoints.ts'
import { latencyTables, measureLatency } from './latency.ts'
import { libraries } from './libraries.ts'
import { listTables, measureLists } from './lists.ts'
import { measureOauth, oauthTables } from './oauth.ts'
import { writeResults } from './report/document.ts'
import { machine } from './report/machine.ts'
import { plainTable, type Table } from './report/table.ts'

const HELP = `npm run bench -- [part …] [--markdown]

  bundles    size and cold import of every function (npm run build first)
  endpoints  calls, round trips, read and write units of every endpoint (npm run build first), and of the workers
  lists      calls and read units of pages of every list, with few records and with many
  cpu        warm CPU of requests against a bare handler
  latency    from the commit to the request: run dispatch and webhook deliveries, over HTTP; what ask_agent adds
  oauth      CPU, latency and store calls of token, refresh and introspection, beside oidc-provider
  cost       of a million calls, runs and deliveries, from the numbers above
  libraries  what was weighed and not taken; installs packages into a temporary folder, so it runs only when named

  --markdown     write the tables into docs/performance.md, too
  --samples N    pairs of processes for each bundle (15)
  --rounds N     rounds for the CPU of each request (8; 24 for oauth)
  --only TEXT    only requests with this in their name, for cpu, and lists
  --records N    of each kind, for lists (10000; 100000 take about ten minutes and 3 GB)
  --seconds N    of load, twice, for latency (10)`

const DOCUMENT = path.resolve(import.meta.dirname, '../docs/performance.md')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    markdown: { type: 'boolean', default: false },
    samples: { type: 'string', default: '15' },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    records: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})

const rounds = values.rounds === undefined ? {} : { rounds: Number(values.rounds) }

const reportFailures = ({ failures }: StoreUse): void => {
  for (const failure of failures) console.error(`failed: ${failure}`)
  if (failures.length > 0) process.exitCode = 1
}

/** Records of each kind at first, and at the end. */
const sizes = [100, Number(values.records)]

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
  bundles: () => bundles({ samples: Number(values.samples) }),
  endpoints: async () => storeUseTables(await storeUse()),
  lists: async () => listTables(await measureLists({ sizes, only: values.only }), sizes),
  cpu: async () => cpuTables(await cpuUse()),
  latency: async () => latencyTables(await measureLatency({ seconds: Number(values.seconds) })),
  oauth: async () => oauthTables(await measureOauth(rounds)),
  cost: async () => costTables({ store: await storeUse(), cpu: await cpuUse() }),
  libraries,
}

const unknown = positionals.find((part) => !(part in PARTS))
if (values.help || unknown !== undefined) {
  if (unknown !== undefined) console.error(`There is no part ${unknown}.\n`)
  console.log(HELP)
  process.exit(unknown === undefined ? 0 : 1)
}

const where = machine()
console.log(where)
const chosen = positionals.length > 0 ? positionals : Object.keys(PARTS).filter((part) => part !== 'libraries')
for (const part of chosen) {
  const tables = (await PARTS[part]?.()) ?? []
  for (const table of tables) console.log(plainTable(table))
  if (values.markdown) await writeResults(DOCUMENT, part, where, tables)
}
