import { DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startStore, type TestStore } from '#testkit/store.ts'

let store: TestStore
let TableName: string
beforeAll(async () => {
  store = await startStore()
  TableName = await store.createTable()
})
afterAll(() => store.stop())

/** Writes and reads with a client, and fails with it. */
const exercise = async (client: DynamoDBDocumentClient) => {
  const Item = {
    pk: 'a',
    sk: 'ü',
    n: 1.5,
    no: null,
    list: [1, { deep: true }],
    set: new Set(['x']),
  }
  const onlyNew = {
    TableName,
    Item: { ...Item, gone: undefined },
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const
  await client.send(new PutCommand({ TableName, Item: { ...Item, gone: undefined } }))
  const { Item: read } = await client.send(new GetCommand({ TableName, Key: { pk: 'a', sk: 'ü' } }))
  const { Item: missing } = await client.send(new GetCommand({ TableName, Key: { pk: 'b', sk: 'b' } }))
  const errors = await Promise.all(
    [new PutCommand(onlyNew), new TransactWriteCommand({ TransactItems: [{ Put: onlyNew }] })].map((command) =>
      client.send(command as PutCommand).catch((error) => error),
    ),
  )
  const shown = errors.map(({ name, message, Item, CancellationReasons }) => ({
    name,
    message,
    Item,
    CancellationReasons,
  }))
  return { read, missing, shown }
}

it('the tests’ client of the store answers and fails as the SDK’s client does', async () => {
  const sdk = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  const expected = await exercise(sdk)
  expect(expected.shown.map(({ name }) => name)).toEqual([
    'ConditionalCheckFailedException',
    'TransactionCanceledException',
  ])
  expect(await exercise(store.documents)).toEqual(expected)
})
