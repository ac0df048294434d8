import path from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type Platform, startPlatform } from '#local/platform.ts'
import { BUNDLES, prepare } from '#local/prepare.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { Table } from '#shared/table/table.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { receiverKinds } from './faults/kinds.ts'
import { type Play, type Played, RETRY_DELAYS, runFaults } from './faults/run-faults.ts'
import { UNLIMITED } from './local-run.ts'

export { RETRY_DELAYS } from './faults/run-faults.ts'
export { faultTables, holds } from './faults/tables.ts'

/** Faults of the full runs. Smaller runs may change them. */
const FULL: Omit<Play, 'events' | 'seed' | 'kinds'> = {
  tenants: 8,
  store: {
    throttled: 0.005,
    conflict: 0.01,
    answerLost: 0.003,
    slow: 0.002,
    stalled: 0.000_02,
    storm: { ms: 2 * SECOND, share: 0.7 },
  },
  messages: { twice: 0.02, again: 0.02, late: 0.03, lost: 0.002 },
  pace: { deaths: 6 * SECOND, storms: 60 * SECOND, skews: 15 * SECOND, jumps: 2 * MINUTE, sweepsDie: 0 },
  lagMs: 2 * SECOND,
  pollEveryMs: 1 * SECOND,
  enableEveryMs: 20 * SECOND,
}

/** Creates a table client without faults. */
export const tableOf = ({ endpoints, client, tableName, model }: Platform): { table: Table; close(): void } => {
  const store = new DynamoDBClient({ ...client, endpoint: endpoints.dynamodb })
  const shards = Number(model.functions.find(({ name }) => name === 'fan-out')?.environment.DIRECTORY_SHARDS)
  const documents = DynamoDBDocumentClient.from(store, { marshallOptions: { removeUndefinedValues: true } })
  return { table: new Table({ client: documents, tableName, shards }), close: () => store.destroy() }
}

export interface FaultOptions {
  events: number
  seed: number
}

/** Sends events through the whole local run, with faults everywhere, and reports the results. */
export const measureFaults = async ({ events, seed }: FaultOptions): Promise<Played> => {
  const { folder, remove } = scratchFolder('bench-faults-')
  const cdkOut = path.join(folder, 'cdk.out')
  await prepare({ cdkOut })
  const platform = await startPlatform({
    dataDir: path.join(folder, 'data'),
    cdkOut,
    bundles: BUNDLES,
    watchDynamodb: true,
    env: { ...UNLIMITED, WEBHOOK_RETRY_DELAYS_SECONDS: RETRY_DELAYS, LOG_LEVEL: 'silent' },
  })
  const { table, close } = tableOf(platform)
  try {
    return await runFaults(platform, table, {
      ...FULL,
      events,
      seed,
      kinds: receiverKinds(),
      progress: (line) => console.log(line),
    })
  } finally {
    close()
    await platform.stop()
    remove()
  }
}
