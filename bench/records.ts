import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { DynamodbProcess } from '#local/dynamodb/process.ts'
import { Table as StoreTable } from '#shared/table/table.ts'
import { type Consumption, StoreMeter } from './endpoints/meter.ts'
import { type Stage, startStage } from './endpoints/stage.ts'
import { SHARDS } from './lists/fill.ts'
import { createWorld, type World } from './lists/world.ts'
import { manyItems } from './records/items.ts'
import { type Operation, operationsOf } from './records/operations.ts'
import { startFilledStore } from './records/store.ts'
import { fixed, type Table } from './report/table.ts'
import { median } from './statistics.ts'

/** Pause between calls, so that no rate limit applies. */
const REST_MS = 5_000
const CALLS_PER_ROUND = 4

/** Store usage of an operation. */
type Asked = Pick<Consumption, 'calls' | 'roundTrips' | 'readUnits' | 'writeUnits'>

/** Measurements of one operation, at each number of records. */
export interface Growth {
  operation: string
  uses: Asked[]
  /** Milliseconds of each call, by number of records. */
  times: number[][]
}

export interface RecordsOptions {
  /** Records of one installation, ascending. */
  sizes?: readonly number[]
  rounds?: number
}

/** Fills a store for each number of records, and runs the main operations on all of them in turns. */
export const measureRecords = async ({
  sizes = [1_000, 100_000, 1_000_000],
  rounds = 10,
}: RecordsOptions = {}): Promise<Growth[]> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-records-'))
  const stage = await startStage()
  const sides: Side[] = []
  try {
    const world = await createWorld(stage)
    // Completes what the world has left to do, so that each side begins with nothing due.
    await stage.platform.sweep()
    const own = await itemsOf(stage)
    for (const size of sizes) sides.push(await startSide(stage, world, own, path.join(folder, String(size)), size))
    const found = (sides[0]?.operations ?? []).map(({ name }): Growth => ({ operation: name, uses: [], times: [] }))
    for (const side of sides) {
      for (const [i, operation] of side.operations.entries()) found[i]?.uses.push(await meter(stage, side, operation))
    }
    for (let round = 0; round < rounds; round++) {
      for (const [at, side] of sides.entries()) await time(stage, side, found, at)
    }
    return found
  } finally {
    for (const side of sides) await side.stop()
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Store of one size, with the platform's stage on it. */
interface Side {
  operations: Operation[]
  meter: StoreMeter
  enter(): void
  stop(): Promise<void>
}

/** Reads the items that creating the world has written. */
const itemsOf = async ({ platform }: Stage): Promise<Record<string, unknown>[]> => {
  const client = DynamoDBDocumentClient.from(platform.store.client)
  const { Items = [] } = await client.send(new ScanCommand({ TableName: platform.tableName }))
  return Items
}

const startSide = async (
  stage: Stage,
  world: World,
  own: Record<string, unknown>[],
  folder: string,
  size: number,
): Promise<Side> => {
  const { platform } = stage
  const { tableName } = platform
  await mkdir(folder)
  function* items() {
    yield* own
    yield* manyItems(world, size, platform.clock.now())
  }
  const store: DynamodbProcess = await startFilledStore({
    folder,
    like: platform.store.endpoint,
    tableName,
    items: items(),
  })
  const { endpoint } = store
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  })
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
  const table = new StoreTable({ client: documents, tableName, shards: SHARDS })
  const side: Side = {
    operations: [],
    meter: new StoreMeter(client.middlewareStack, { endpoint, tableName }),
    enter: () => {
      platform.deps.table = table
    },
    stop: async () => {
      side.meter.close()
      client.destroy()
      await store.stop()
    },
  }
  side.enter()
  side.operations = await operationsOf(stage, world)
  return side
}

const meter = async ({ platform }: Stage, side: Side, { run, after }: Operation): Promise<Consumption> => {
  side.enter()
  platform.clock.advance(REST_MS)
  const { result, consumption } = await side.meter.during(run)
  await after?.(result)
  return consumption
}

const time = async ({ platform }: Stage, side: Side, found: Growth[], at: number): Promise<void> => {
  side.enter()
  for (const [i, { run, after }] of side.operations.entries()) {
    const growth = found[i]
    if (!growth) continue
    growth.times[at] ??= []
    for (let call = 0; call < CALLS_PER_ROUND; call++) {
      platform.clock.advance(REST_MS)
      const began = performance.now()
      const result = await run()
      growth.times[at].push(performance.now() - began)
      await after?.(result)
    }
  }
}

/** Record sizes differ by a digit here and there, which a sum of them may carry over a block's end. */
const isSame = (uses: readonly Asked[]): boolean =>
  uses.every(
    ({ calls, roundTrips, readUnits, writeUnits }) =>
      calls === uses[0]?.calls &&
      roundTrips === uses[0].roundTrips &&
      Math.abs(readUnits - uses[0].readUnits) <= 1 &&
      Math.abs(writeUnits - uses[0].writeUnits) <= 1,
  )

/** Builds the tables of the measurements. */
export const recordsTables = (measured: readonly Growth[], sizes: readonly number[]): Table[] => {
  const counts = sizes.map((size) => size.toLocaleString('en'))
  return [
    {
      title: `The main operations with ${counts.join(', ')} records: store usage`,
      columns: [
        'operation',
        'calls',
        'round trips',
        ...counts.map((count) => `read units at ${count}`),
        ...counts.map((count) => `write units at ${count}`),
        'the same',
      ],
      rows: measured.map(({ operation, uses }) => [
        operation,
        String(uses.at(-1)?.calls),
        String(uses.at(-1)?.roundTrips),
        ...uses.map(({ readUnits }) => fixed(readUnits, 1)),
        ...uses.map(({ writeUnits }) => fixed(writeUnits, 0)),
        isSame(uses) ? 'yes' : 'no',
      ]),
      notes: [
        'Records of one installation, a third each of runs, entries of the event feed and deliveries. Every delivery waits for an attempt tomorrow, so the due index grows with them, but nothing in it is due.',
      ],
    },
    {
      title: `The main operations with ${counts.join(', ')} records: times`,
      columns: ['operation', ...counts.map((count) => `p50 ms at ${count}`), `${counts.at(-1)} to ${counts[0]}`],
      rows: measured.map(({ operation, times }) => [
        operation,
        ...times.map((of) => fixed(median(of), 1)),
        fixed(median(times.at(-1) ?? []) / median(times[0] ?? []), 2),
      ]),
      notes: [
        `In one process over the local store, one call after the other. The stores of all sizes run at the same time and take turns, ${measured[0]?.times[0]?.length ?? 0} calls each.`,
      ],
    },
  ]
}
