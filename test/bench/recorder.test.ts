import { DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyTable } from '#bench/cpu/copy-table.ts'
import { Recorder, scriptOf } from '#bench/cpu/recorder.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

let store: TestStore
beforeAll(async () => {
  store = await startStore()
})
afterAll(() => store.stop())

it('replays a request’s operations on a copy of the table, in the same waves', async () => {
  const client = DynamoDBDocumentClient.from(store.client)
  const [TableName, copy] = [await store.createTable(), await store.createTable()]
  const get = (sk: string, from = TableName) => client.send(new GetCommand({ TableName: from, Key: { pk: 'P', sk } }))
  await client.send(new PutCommand({ TableName, Item: { pk: 'P', sk: 'before' } }))
  await copyTable(store.client, TableName, copy)
  expect((await get('before', copy)).Item).toBeDefined()

  const recorder = new Recorder(store.client.middlewareStack)
  await Promise.all([get('before'), get('nothing')])
  const Item = { pk: 'P', sk: 'after' }
  await client.send(
    new TransactWriteCommand({
      TransactItems: [{ Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' } }],
    }),
  )
  const script = scriptOf(recorder.take(), client, copy)
  expect(script.map((wave) => wave.length)).toEqual([2, 1])
  for (const wave of script) await Promise.all(wave.map((send) => send()))
  expect((await get('after', copy)).Item).toEqual(Item)
  expect(recorder.take().length).toBe(4)
  await expect(scriptOf([], client, copy)).toEqual([])
})
