import { setTimeout as pause } from 'node:timers/promises'
import { startReceiver } from '#testkit/receiver.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { clientOf, createTenant, type Tenant } from './latency/setup.ts'
import { DONE } from './local-run.ts'
import { memoryOf, npmStart } from './npm-start.ts'
import { fixed, type Table } from './report/table.ts'
import { percentile } from './statistics.ts'

const CLIENTS = 8
/** Tenants of each client, so that none reaches its limit of 10 calls a second. */
const TENANTS_EACH = 3
const SLICES = 10
/** Seconds without requests before the idle memory is read. */
const IDLE_SECONDS = 60

/** Measures `npm start` under a long, even load. */
export interface Soak {
  /** Seconds from the start to the first answer. */
  ready: number
  seconds: number
  /** Memory without requests, in MB. */
  idle: number
  /** Finished runs per second, 95th percentile of their milliseconds, and memory in MB at the end, for each tenth of the time. */
  slices: { runs: number; p95: number; memory: number }[]
}

/** Runs eight clients, each of which waits for its run before it starts the next. */
export const measureSoak = async ({ seconds = 300 }: { seconds?: number } = {}): Promise<Soak> => {
  const { folder, remove } = scratchFolder('bench-soak-')
  const agent = await startReceiver()
  const began = performance.now()
  const { url, pid, stop } = await npmStart(folder, ['--fresh'])
  try {
    const ready = (performance.now() - began) / 1_000
    await pause(IDLE_SECONDS * 1_000)
    const idle = memoryOf(pid)
    agent.answer({ kind: 'answer', status: 200, body: DONE })
    const call = clientOf(url)
    const tenants: Tenant[] = []
    while (tenants.length < CLIENTS * TENANTS_EACH) tenants.push(await createTenant(call, agent.url, []))

    let times: number[] = []
    const until = performance.now() + seconds * 1_000
    const client = async (index: number) => {
      for (let n = 0; performance.now() < until; n++) {
        const { headers } = tenants[index * TENANTS_EACH + (n % TENANTS_EACH)] as Tenant
        const from = performance.now()
        const run = await call('POST', '/api/v1/runs?wait=30', headers, { input: { name: 'Ada' }, trigger: 'bench' })
        if (run.status !== 'succeeded') throw new Error(`A run ended as ${run.status}: ${JSON.stringify(run.error)}`)
        times.push(performance.now() - from)
        agent.requests.length = 0
      }
    }
    const slices: Soak['slices'] = []
    const watch = async () => {
      for (; slices.length < SLICES; times = []) {
        await pause((seconds * 1_000) / SLICES)
        slices.push({ runs: (times.length * SLICES) / seconds, p95: percentile(times, 0.95), memory: memoryOf(pid) })
      }
    }
    await Promise.all([watch(), ...Array.from({ length: CLIENTS }, (_, index) => client(index))])
    return { ready, seconds, idle, slices }
  } finally {
    await stop()
    await agent.close()
    remove()
  }
}

/** Formats the result. */
export const soakTables = ({ ready, seconds, idle, slices }: Soak): Table[] => [
  {
    title: '`npm start` under runs by eight clients',
    columns: ['seconds', 'runs/s', 'p95 ms', 'memory MB'],
    rows: [
      ['idle', '–', '–', fixed(idle, 0)],
      ...slices.map(({ runs, p95, memory }, i) => [
        fixed(((i + 1) * seconds) / SLICES, 0),
        fixed(runs, 1),
        fixed(p95, 0),
        fixed(memory, 0),
      ]),
    ],
    notes: [
      `Ready ${fixed(ready, 1)} s after the start. Each client waits for its run (\`POST /api/v1/runs?wait=30\`) before it starts the next, with ${TENANTS_EACH} tenants each. Memory: proportional set size of the platform and its store; idle: a minute after the start.`,
    ],
  },
]
