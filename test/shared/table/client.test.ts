import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createStoreClient, type StoreClient } from '#shared/table/client.ts'
import { forEachEndpointVariable, usingAwsServer } from '#testkit/aws-server.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

let store: TestStore
let TableName: string
beforeAll(async () => {
  store = await startStore()
  TableName = await store.createTable()
})
afterAll(() => store.stop())

const where = { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }

/** Writes and reads with a client, and fails with it. */
const exercise = async (client: StoreClient, bytes: Record<string, unknown>) => {
  const Key = { pk: 'a', sk: 'ü' }
  const Item = {
    ...Key,
    n: 1.5,
    no: null,
    list: [1, undefined, { deep: true, gone: undefined }],
    set: new Set(['x']),
    ...bytes,
  }
  const onlyNew = {
    TableName,
    Item: { ...Item, gone: undefined },
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const
  await client.send(new PutCommand({ TableName, Item: { ...Item, gone: undefined } }))
  const { Item: read } = await client.send(new GetCommand({ TableName, Key }))
  const { Item: missing } = await client.send(new GetCommand({ TableName, Key: { pk: 'b', sk: 'b' } }))
  const { Responses } = await client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key] } } }))
  const { Attributes } = await client.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET n = n + :one',
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'ALL_NEW',
    }),
  )
  const { Items } = await client.send(
    new QueryCommand({ TableName, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'a' } }),
  )
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
  return { read, missing, Responses, Attributes, Items, shown }
}

const BYTES = { bytes: new Uint8Array([1, 2]) }

it('the client answers and fails as the SDK’s document client does', async () => {
  const sdk = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  const expected = await exercise(sdk, BYTES)
  expect(expected.read).toMatchObject({ n: 1.5, ...BYTES })
  expect(expected.shown.map(({ name }) => name)).toEqual([
    'ConditionalCheckFailedException',
    'TransactionCanceledException',
  ])
  const own = await exercise(createStoreClient({ ...where, endpoint: store.endpoint }), BYTES)
  expect(own).toEqual(expected)
})

it('the tests’ client answers and fails in the same way', async () => {
  const own = createStoreClient({ ...where, endpoint: store.endpoint })
  expect(await exercise(store.documents, {})).toEqual(await exercise(own, {}))
})

// The SDK makes a client's first call. Later ones make their first attempt without it.
describe.each(['first', 'later'])('a client’s %s call', (which) => {
  const aws = usingAwsServer()

  /** Returns a client, which has made a call before if this is about later ones. */
  const created = async (options: Parameters<typeof createStoreClient>[0] = {}): Promise<StoreClient> => {
    const client = createStoreClient({ endpoint: aws.endpoint, ...options })
    if (which === 'first') return client
    aws.answers.push(found)
    await client.send(get)
    aws.requests.splice(0)
    return client
  }

  const error = (type: string, message: string) => ({
    status: 400,
    body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }),
  })
  const found = { status: 200, body: '{"Item":{"pk":{"S":"a"}}}' }
  const get = new GetCommand({ TableName: 'table', Key: { pk: 'a' } })
  const transaction = new TransactWriteCommand({ TransactItems: [{ Put: { TableName: 'table', Item: { pk: 'a' } } }] })

  it('is repeated if it was throttled, the service failed or the connection broke', async () => {
    for (const fault of [
      error('ThrottlingException', 'slow'),
      { status: 503, body: '<html>' },
      { status: 0, body: '' },
    ]) {
      const client = await created()
      aws.answers.push(fault, found)
      expect((await client.send(get)).Item).toEqual({ pk: 'a' })
      expect(aws.requests.splice(0)).toHaveLength(2)
    }
  })

  it('fails with the SDK’s error classes', async () => {
    const client = await created()
    aws.answers.push(error('TransactionCanceledException', 'no'))
    await expect(client.send(get)).rejects.toBeInstanceOf(TransactionCanceledException)
  })

  it('is given up after four attempts, of which the error tells', async () => {
    const client = await created()
    await expect(client.send(get)).rejects.toMatchObject({
      $metadata: { attempts: 4, httpStatusCode: 500, requestId: 'the-request' },
    })
    expect(aws.requests).toHaveLength(4)
  })

  it('is not repeated if it was refused, and reports the name of the error', async () => {
    for (const name of ['TransactionConflictException', 'AccessDeniedException', 'ValidationException']) {
      const client = await created()
      aws.answers.push(error(name, 'no'))
      await expect(client.send(get)).rejects.toMatchObject({ name, message: 'no', $metadata: { attempts: 1 } })
      expect(aws.requests.splice(0)).toHaveLength(1)
    }
  })

  it('repeats a transaction under the same token, so that it runs once', async () => {
    const client = await created()
    aws.answers.push({ status: 0, body: '' }, { status: 200, body: '{}' }, { status: 200, body: '{}' })
    await client.send(transaction)
    await client.send(transaction)
    const [first, repeated, another] = aws.requests.map(({ body }) => JSON.parse(body).ClientRequestToken)
    expect(first).toMatch(/^[\w-]{36}$/)
    expect(repeated).toBe(first)
    expect(another).not.toBe(first)
  })

  it('is signed with the credentials of the environment, including the session token', async () => {
    const client = await created()
    aws.answers.push(found)
    await client.send(get)
    const headers = aws.requests[0]?.headers ?? {}
    expect(headers['x-amz-security-token']).toBe('the-session')
    expect(headers.authorization).toMatch(/Credential=AKIDFUNCTION\/\d+\/eu-central-1\/dynamodb\/aws4_request/)
  })

  it('is signed with new credentials once the old ones have expired', async () => {
    let asked = 0
    const credentials = async () => ({
      accessKeyId: `AKID${++asked}`,
      secretAccessKey: `secret${asked}`,
      expiration: new Date(Date.now() - 1_000),
    })
    const client = await created({ credentials })
    aws.answers.push(found, found)
    await client.send(get)
    await client.send(get)
    const [first, second] = aws.requests.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1])
    expect(first).toMatch(/^AKID\d+$/)
    expect(second).not.toBe(first)
  })
})

describe('a call', () => {
  const aws = usingAwsServer()
  const found = { status: 200, body: '{"Item":{"pk":{"S":"a"}}}' }
  const get = new GetCommand({ TableName: 'table', Key: { pk: 'a' } })

  it('has the same headers without the SDK as with it, apart from those that name the attempt', async () => {
    const client = createStoreClient({ endpoint: aws.endpoint })
    aws.answers.push(found, found)
    await client.send(get)
    await client.send(get)
    const [withSdk, without] = aws.requests.map(({ url, headers, body }) => {
      const { 'amz-sdk-invocation-id': _id, 'amz-sdk-request': _attempt, authorization, ...rest } = headers
      const signed = authorization?.replace(/Signature=.*/, '').replaceAll(/amz-sdk-[a-z-]+;/g, '')
      return { url, ...rest, signed, 'x-amz-date': rest['x-amz-date']?.toString().slice(0, 11), body }
    })
    expect(without).toEqual(withSdk)
  })

  it('is signed with the corrected time, once AWS has refused that of this machine', async () => {
    const client = createStoreClient({ endpoint: aws.endpoint })
    const date = new Date(Date.now() + 3_600_000).toUTCString()
    const body = JSON.stringify({ __type: 'com.amazon.coral.service#RequestTimeTooSkewed', message: 'skewed' })
    const headers = { date }
    aws.answers.push(found, { status: 400, body, headers }, { ...found, headers }, { ...found, headers })
    for (let i = 0; i < 3; i++) expect((await client.send(get)).Item).toEqual({ pk: 'a' })
    const hours = aws.requests.map(({ headers }) => String(headers['x-amz-date']).slice(0, 11))
    const [now, later] = [0, 3_600_000].map((ms) =>
      new Date(Date.now() + ms).toISOString().replaceAll('-', '').slice(0, 11),
    )
    expect(hours).toEqual([now, now, later, later])
  })

  it('has four attempts again after a time of failures, once enough calls have succeeded', async () => {
    const client = createStoreClient({ endpoint: aws.endpoint })
    const send = () => client.send(get).catch(({ $metadata }) => $metadata.attempts)
    aws.answers.push(found)
    await send()
    // They use up what the SDK has for attempts.
    await Promise.all(Array.from({ length: 40 }, send))
    expect(await send()).toBe(1)
    for (let i = 0; i < 100; i++) {
      aws.answers.push(found)
      expect((await send()).Item).toBeDefined()
    }
    expect(await send()).toBe(4)
  })

  it('uses the endpoint of the environment, for one service or for all', async () => {
    await forEachEndpointVariable(aws.endpoint, async () => {
      aws.answers.push(found)
      expect((await createStoreClient().send(get)).Item).toEqual({ pk: 'a' })
    })
  })

  it('is not sent without credentials', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', '')
    const call = createStoreClient({ endpoint: aws.endpoint }).send(get)
    await expect(call).rejects.toMatchObject({ name: 'CredentialsProviderError' })
    expect(aws.requests).toEqual([])
  })
})
