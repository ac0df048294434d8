import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'

export interface TestStore {
  endpoint: string
  client: DynamoDBClient
  /** A fresh, empty table. */
  createTable(): Promise<string>
  stop(): Promise<void>
}

/** A free port of the loopback interface. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** A real DynamoDB-compatible store in memory, on a port of its own. */
export const startStore = async (): Promise<TestStore> => {
  const binary = createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`)
  chmodSync(binary, 0o755)
  const port = await freePort()
  const child = spawn(binary, ['serve', '--port', String(port)], { stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 3,
  })
  for (let i = 0; i < 200; i++) {
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      break
    await wait(10)
  }
  let tables = 0
  return {
    endpoint,
    client,
    async createTable() {
      const TableName = `test-${process.pid}-${tables++}`
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
      client.destroy()
      child.kill()
      await once(child, 'exit')
    },
  }
}
