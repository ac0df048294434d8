import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Block, SideProcess } from './oauth/process.ts'
import { OPERATIONS, type Operation } from './oauth/side.ts'
import { fixed, type Table } from './report/table.ts'
import { median, percentile, spread } from './statistics.ts'

/** What stands side by side. The first is ours; every other is compared with it. */
const SIDES: { name: string; file: string; args: string[]; operations: readonly Operation[] }[] = [
  { name: 'this platform', file: 'platform.ts', args: [], operations: OPERATIONS },
  { name: 'oidc-provider, opaque access tokens', file: 'oidc-provider.ts', args: ['opaque'], operations: OPERATIONS },
  {
    name: 'oidc-provider, JWT access tokens (HS256)',
    file: 'oidc-provider.ts',
    args: ['jwt'],
    // It introspects no token that it does not store.
    operations: ['authorization_code', 'refresh_token'],
  },
]

const BLOCK = 100
const WARM_UP_BLOCKS = 40

/** One operation on one side. */
export interface OauthUse {
  operation: Operation
  side: string
  /** In the order in which they were measured: those of one place stood next to each other in time on all sides. */
  blocks: Block[]
}

export interface OauthOptions {
  /** Blocks of each operation on each side. */
  rounds?: number
}

/** Token, refresh and introspection on every side, in turns. */
export const measureOauth = async ({ rounds = 24 }: OauthOptions = {}): Promise<OauthUse[]> => {
  const processes = await Promise.all(SIDES.map(({ file, args }) => SideProcess.start(file, args)))
  try {
    const uses: OauthUse[] = []
    for (const operation of OPERATIONS) {
      const turns = SIDES.flatMap((side, i) => {
        const process = processes[i]
        if (!process || !side.operations.includes(operation)) return []
        return [{ process, use: { operation, side: side.name, blocks: [] as Block[] } }]
      })
      for (let i = 0; i < WARM_UP_BLOCKS; i++) for (const { process } of turns) await process.block(operation, BLOCK)
      for (let round = 0; round < rounds; round++) {
        // Whoever comes second finds the machine otherwise, so they change places.
        const order = round % 2 === 0 ? turns : turns.toReversed()
        for (const { process, use } of order) use.blocks.push(await process.block(operation, BLOCK))
      }
      uses.push(...turns.map(({ use }) => use))
    }
    return uses
  } finally {
    await Promise.all(processes.map((process) => process.close()))
  }
}

const cpuOf = ({ blocks }: OauthUse): number[] => blocks.map(({ cpu, requests }) => cpu / requests)

/** How many times the other one's CPU ours is, pair by pair. */
export const cpuRatio = (ours: OauthUse, other: OauthUse): number => {
  const theirs = cpuOf(other)
  return median(cpuOf(ours).map((cpu, i) => cpu / (theirs[i] ?? Number.NaN)))
}

const NAMES: Record<Operation, string> = {
  authorization_code: 'a code',
  refresh_token: 'a refresh token',
  introspection: 'introspection',
}

const row = (use: OauthUse, ours: OauthUse | undefined): string[] => {
  const latencies = use.blocks.flatMap((block) => block.latencies)
  const perRequest = (of: 'calls' | 'reads' | 'writes'): string =>
    fixed(median(use.blocks.map((block) => block[of] / block.requests)), 1)
  return [
    NAMES[use.operation],
    use.side,
    fixed(median(cpuOf(use)), 0),
    fixed(spread(cpuOf(use)), 0),
    !ours || use === ours ? '' : fixed(cpuRatio(ours, use), 2),
    fixed(percentile(latencies, 0.5), 2),
    fixed(percentile(latencies, 0.99), 2),
    perRequest('calls'),
    perRequest('reads'),
    perRequest('writes'),
  ]
}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(path.resolve(import.meta.dirname, `../node_modules/${name}/package.json`), 'utf8')).version

/** The table of what was measured. */
export const oauthTables = (uses: readonly OauthUse[]): Table[] => {
  const blocks = uses[0]?.blocks ?? []
  return [
    {
      title: `OAuth beside oidc-provider ${versionOf('oidc-provider')}`,
      columns: ['request', 'side', 'CPU µs', '±', 'ours to it', 'p50 ms', 'p99 ms', 'calls', 'read', 'written'],
      rows: uses.map((use) =>
        row(
          use,
          uses.find(({ operation, side }) => operation === use.operation && side === SIDES[0]?.name),
        ),
      ),
      notes: [
        `CPU: user and system, of the whole process of the one side, per request; its client is another process. Medians of ${blocks.length} blocks of ${blocks[0]?.requests ?? 0} requests, ± half the distance of their quartiles; the sides take turns, after ${WARM_UP_BLOCKS * BLOCK} requests to warm up. “Ours to it”: our CPU divided by its, median over the pairs. Latency: one request at a time over one kept connection.`,
        'Calls: what one request asks of the store, and the records that these calls read and wrote, ours from a table in memory and theirs from their adapter in memory.',
      ],
    },
  ]
}
