import { afterAll, beforeAll, expect, test } from 'vitest'
import { compilePattern } from '#local/aws/pattern.ts'
import { createDynamodbCall } from '#local/dynamodb/client.ts'
import { startDynoxide } from '#local/dynamodb/process.ts'
import { maintainStreamRecords } from '#local/dynamodb/stream-records.ts'
import { createShardReader } from '#local/sources/shards.ts'
import { scratchFolder } from '#testkit/scratch.ts'

const scratch = scratchFolder('stream-records-')
const fail = (error: unknown) => {
  throw error
}

const start = async () => {
  const server = await startDynoxide({ dataDir: scratch.folder, onExit: () => {} })
  const { call, close } = createDynamodbCall(server.endpoint)
  const { TableDescription } = await call<{ TableDescription: { LatestStreamArn: string } }>(
    'DynamoDB_20120810.CreateTable',
    {
      TableName: 'events',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    },
  )
  return { server, call, close, streamArn: TableDescription.LatestStreamArn }
}

let store: Awaited<ReturnType<typeof start>>
let records: ReturnType<typeof maintainStreamRecords>
beforeAll(async () => {
  store = await start()
  records = maintainStreamRecords(store.server.database, fail)
})
afterAll(async () => {
  records.close()
  store.close()
  await store.server.stop()
  scratch.remove()
})

/** The filter of the relay: events that no worker carries. */
const RELAY = {
  eventName: ['INSERT'],
  dynamodb: { NewImage: { _e: { S: ['outbox'] }, carried: { BOOL: [{ exists: false }] } } },
}
const FILTERS = [
  RELAY,
  { eventName: ['INSERT'], dynamodb: { NewImage: { _e: { S: ['outbox', 'audit-intake'] } } } },
  { eventName: ['MODIFY', 'REMOVE'] },
  { dynamodb: { NewImage: { carried: { BOOL: [{ exists: true }] } } } },
  { dynamodb: { NewImage: { name: { S: [{ prefix: 'Ad' }] } } } },
  { dynamodb: { NewImage: { list: { L: { S: ['Ada'] } } } } },
  { dynamodb: { NewImage: { list: { L: [{ exists: false }] } } } },
  { dynamodb: { NewImage: { a: { b: { S: ['Ada'] } } } } },
  { dynamodb: { NewImage: { 'a.b': { S: ['Ada'] } } } },
  { dynamodb: { NewImage: { 'a.b"c': { S: ["it's"] } } } },
]

const ITEMS = [
  { _e: { S: 'run' } },
  { _e: { S: 'outbox' } },
  { _e: { S: 'outbox' }, carried: { BOOL: true } },
  // The words of the filter, but in the text of another attribute.
  { _e: { S: 'outbox' }, data: { S: '{"carried":{"BOOL":true}}' } },
  { _e: { S: 'run' }, data: { S: '"outbox"' } },
  { _e: { S: 'run' }, inner: { M: { _e: { S: 'outbox' } } } },
  { _e: { S: 'outbox' }, inner: { M: { carried: { BOOL: true } } } },
  { _e: { L: [{ S: 'outbox' }] } },
  { _e: { S: 'run' }, name: { S: 'Ada' } },
  { 'a.b"c': { S: "it's" } },
  { 'a.b': { S: 'Ada' } },
  { list: { L: [{ S: 'Bo' }, { S: 'Ada' }] } },
]

test('records are passed over only if none of them passes the filters', async () => {
  const { call, streamArn } = store
  const state = new Map<string, string>()
  const positions = {
    get: (id: string) => state.get(id),
    set: (id: string, at: string) => void state.set(id, at),
  }
  const reader = createShardReader({ call, streamArn, positions, fromStart: true })
  const [shardId = ''] = await reader.open()
  const put = (pk: string, item: object) =>
    call('DynamoDB_20120810.PutItem', { TableName: 'events', Item: { pk: { S: pk }, ...item } })
  let after = '0'
  let passedOver = 0
  for (const [i, item] of ITEMS.entries()) {
    await put(`${i}`, item)
    await put(`${i}`, { ...item, n: { N: '1' } })
    const found = (await reader.read(shardId)) ?? []
    expect(found).toHaveLength(2)
    const last = found.at(-1)?.dynamodb.SequenceNumber
    for (const filter of FILTERS) {
      const passes = found.some((record) => compilePattern(filter)(record))
      const past = records.lookPast({ streamArn, shardId, after }, [filter])
      if (passes) expect(past, JSON.stringify({ filter, item })).toBeUndefined()
      else if (past !== undefined) {
        expect(past).toBe(last)
        passedOver++
      }
    }
    const isRelayed = found.some((record) => compilePattern(RELAY)(record))
    expect(records.lookPast({ streamArn, shardId, after }, [RELAY])).toBe(isRelayed ? undefined : last)
    after = String(last)
  }
  expect(passedOver).toBeGreaterThan(ITEMS.length)
  // There is nothing after the last record, so the stream is read.
  expect(records.lookPast({ streamArn, shardId, after }, [RELAY])).toBeUndefined()
  await put('later', { _e: { S: 'run' } })
  await put('last', { _e: { S: 'outbox' } })
  expect(records.lookPast({ streamArn, shardId, after }, [])).toBeUndefined()
  expect(records.lookPast({ streamArn, shardId, after: String(Number(after) + 2) }, [RELAY])).toBeUndefined()
  expect(
    records.lookPast({ streamArn: streamArn.replace('/events/', '/others/'), shardId, after }, [RELAY]),
  ).toBeUndefined()
  // Reading continues after what was passed over.
  reader.skipTo(shardId, String(Number(after) + 1))
  expect((await reader.read(shardId))?.map(({ dynamodb }) => dynamodb.SequenceNumber)).toEqual([
    String(Number(after) + 2),
  ])
})
