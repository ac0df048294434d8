import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { StoreMeter } from '#bench/endpoints/meter.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

let store: TestStore
let client: DynamoDBDocumentClient
let meter: StoreMeter
let TableName: string
beforeAll(async () => {
  store = await startStore()
  client = DynamoDBDocumentClient.from(store.client)
  TableName = await store.createTable()
  meter = new StoreMeter(store.client.middlewareStack, { endpoint: store.endpoint, tableName: TableName })
})
beforeEach(async () => {
  await client
    .send(new PutCommand({ TableName, Item: { ...key, text: 'old', listpk: undefined } }))
    .catch(() => undefined)
})
afterAll(async () => {
  meter.close()
  await store.stop()
})

const key = { pk: 'P', sk: 'S' }
const place = { duepk: 'DUE#0', duesk: '1' }
const units = async (work: () => Promise<unknown>) => {
  const { readUnits, writeUnits, calls, roundTrips } = (await meter.during(work)).consumption
  return { readUnits, writeUnits, calls, roundTrips }
}

it('counts a write with its index entry, and a moved index entry as two', async () => {
  const put = new PutCommand({ TableName, Item: { pk: 'P', sk: 'new', ...place, text: 'x'.repeat(1_500) } })
  expect(await units(() => client.send(put))).toMatchObject({ writeUnits: 2 + 1, readUnits: 0, calls: 1 })
  const move = new UpdateCommand({
    TableName,
    Key: { pk: 'P', sk: 'new' },
    UpdateExpression: 'SET duesk = :next',
    ExpressionAttributeValues: { ':next': '2' },
  })
  expect(await units(() => client.send(move))).toMatchObject({ writeUnits: 2 + 2 })
})

it('counts a transaction twice, including items that it only checks', async () => {
  const transaction = new TransactWriteCommand({
    TransactItems: [
      { Put: { TableName, Item: { pk: 'P', sk: 'other', ...place } } },
      { ConditionCheck: { TableName, Key: key, ConditionExpression: 'attribute_exists(pk)' } },
    ],
  })
  expect(await units(() => client.send(transaction))).toMatchObject({ writeUnits: 2 + 1 + 2, calls: 1 })
})

it('lists each write in its order with the units of the item and of its indexes', async () => {
  const transaction = new TransactWriteCommand({
    TransactItems: [
      { Put: { TableName, Item: { pk: 'P', sk: 'listed', [TABLE_LAYOUT.entity]: 'thing', ...place } } },
      { ConditionCheck: { TableName, Key: key, ConditionExpression: 'attribute_exists(pk)' } },
    ],
  })
  const { writes } = await meter.during(async () => {
    await client.send(transaction)
    await client.send(new PutCommand({ TableName, Item: key }))
  })
  expect(writes).toEqual([
    { entity: 'thing', operation: 'Put', transactional: true, itemUnits: 2, indexUnits: 1 },
    { entity: '', operation: 'ConditionCheck', transactional: true, itemUnits: 2, indexUnits: 0 },
    { entity: '', operation: 'Put', transactional: false, itemUnits: 1, indexUnits: 0 },
  ])
})

it('counts a write whose condition failed', async () => {
  const refused = new PutCommand({ TableName, Item: key, ConditionExpression: 'attribute_not_exists(pk)' })
  expect(await units(() => client.send(refused).catch(() => undefined))).toMatchObject({ writeUnits: 1 })
})

it('counts reads by their consistency, and simultaneous calls as one round trip', async () => {
  const get = (ConsistentRead: boolean) => client.send(new GetCommand({ TableName, Key: key, ConsistentRead }))
  expect(await units(() => Promise.all([get(true), get(false)]))).toMatchObject({
    readUnits: 1.5,
    calls: 2,
    roundTrips: 1,
  })
  const query = new QueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :p',
    ExpressionAttributeValues: { ':p': 'nobody' },
    ConsistentRead: true,
  })
  const inTurn = async () => {
    await client.send(query)
    await get(true)
  }
  expect(await units(inTurn)).toMatchObject({ readUnits: 2, roundTrips: 2 })
})

it('ignores calls that others make at the same time', async () => {
  const stranger = client.send(new GetCommand({ TableName, Key: key }))
  expect(await units(async () => undefined)).toMatchObject({ calls: 0 })
  await stranger
})
