import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { UNSIGNED } from '#local/dynamodb/client.ts'
import { holdIdleConnections } from '#local/dynamodb/idle-connections.ts'
import { dynoxideBinary } from '#local/dynamodb/process.ts'
import { freePort } from '#local/free-port.ts'
import { SILENT } from '#shared/kernel/aws-calls.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { createWireClient } from './wire.ts'

export interface TestStore {
  endpoint: string
  client: DynamoDBClient
  /** Calls the store as the SDK's document client does, through the same middleware. */
  documents: DynamoDBDocumentClient
  /** Creates an empty table. */
  createTable(): Promise<string>
  /** Returns the same store with a separate client. Stopping it leaves the store running. */
  share(): TestStore
  stop(): Promise<void>
}

/** Starts the binary on a free port, and tries another port if that one was taken in the meantime. */
const serve = async (): Promise<{ child: ChildProcess; port: number }> => {
  const binary = dynoxideBinary()
  chmodSync(binary, 0o755)
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    // One thread: handing each call to another thread costs a quarter of the store's CPU.
    const env = { ...process.env, TOKIO_WORKER_THREADS: '1' }
    const child = spawn(binary, ['serve', '--port', String(port)], { stdio: ['ignore', 'ignore', 'pipe'], env })
    const ended = once(child, 'exit').then(([code]) => `it ended with code ${code}`)
    const answer = await Promise.race([once(child.stderr, 'data').then(String), ended])
    child.stderr.resume()
    if (/listening on/i.test(answer)) return { child, port }
    child.kill()
    if (attempt === 3) throw new Error(`the store does not start: ${answer}`)
  }
}

/** Sends a fixed signature. The store requires one but doesn't check it, and signing takes a quarter of a call. */
const unsigned: Extract<DynamoDBClientConfig['signer'], { sign: unknown }> = {
  async sign(request) {
    Object.assign(request.headers, UNSIGNED)
    return request
  },
}

/** Variable with the endpoints of the stores that the workers of a test run share, one for each worker. */
const SHARED = 'TEST_STORES'

/** Starts the stores of a test run. Starting one for each file takes 40 ms of CPU: a large process forks slowly. */
export const startSharedStores = async (workers: number): Promise<() => Promise<void>> => {
  const started = await Promise.all(Array.from({ length: workers }, serve))
  await Promise.all(started.map(({ port }) => holdIdleConnections(port)))
  process.env[SHARED] = started.map(({ port }) => `http://127.0.0.1:${port}`).join()
  return async () => {
    delete process.env[SHARED]
    await Promise.all(started.map(({ child }) => end(child)))
  }
}

const end = async (child: ChildProcess): Promise<void> => {
  child.kill()
  await once(child, 'exit')
}

/** Returns the endpoint of this worker's store, if the test run has started one. */
const sharedEndpoint = (): string | undefined => process.env[SHARED]?.split(',')[Number(process.env.VITEST_POOL_ID) - 1]

/**
 * Provides a DynamoDB-compatible store in memory: the worker's in a test run, otherwise one of its own on a free port. Tables
 * are the caller's alone.
 * @param options.sdk uses the SDK's client with its retries, which takes five times the CPU
 */
export const startStore = async ({ sdk = false } = {}): Promise<TestStore> => {
  const shared = sharedEndpoint()
  const own = shared === undefined ? await serve() : undefined
  const endpoint = shared ?? `http://127.0.0.1:${own?.port}`
  const connect = () =>
    new DynamoDBClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 3,
      logger: SILENT,
      signer: unsigned,
    })
  const tables: string[] = []
  const documentsOf = (client: DynamoDBClient) =>
    sdk
      ? { documents: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }) }
      : createWireClient(client, endpoint)
  const storeOf = (client: DynamoDBClient, stop: () => Promise<void>): TestStore => {
    const { documents, close } = { close: () => {}, ...documentsOf(client) }
    return {
      endpoint,
      client,
      documents,
      share: () => storeOf(connect(), async () => {}),
      async createTable() {
        const TableName = `test-${randomUUID()}`
        tables.push(TableName)
        const { partitionKey, sortKey, indexes } = TABLE_LAYOUT
        const names = [partitionKey, sortKey, ...Object.values(indexes).flatMap((i) => [i.partitionKey, i.sortKey])]
        await client.send(
          new CreateTableCommand({
            TableName,
            BillingMode: 'PAY_PER_REQUEST',
            AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
            KeySchema: [
              { AttributeName: partitionKey, KeyType: 'HASH' },
              { AttributeName: sortKey, KeyType: 'RANGE' },
            ],
            GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, index]) => ({
              IndexName,
              KeySchema: [
                { AttributeName: index.partitionKey, KeyType: 'HASH' },
                { AttributeName: index.sortKey, KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            })),
          }),
        )
        return TableName
      },
      async stop() {
        close()
        client.destroy()
        await stop()
      },
    }
  }
  return storeOf(connect(), async () => {
    if (own) return end(own.child)
    const client = connect()
    for (const TableName of tables) await client.send(new DeleteTableCommand({ TableName }))
    client.destroy()
  })
}
