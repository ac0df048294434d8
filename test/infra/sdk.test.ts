import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { INPUT, OUTPUT } from '#infra/bundle/options.ts'
import { forEachEndpointVariable, usingAwsServer } from '#testkit/aws-server.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

const source = `
export * as dynamodb from '@aws-sdk/client-dynamodb'
export * as documents from '@aws-sdk/lib-dynamodb'
export * as eventbridge from '@aws-sdk/client-eventbridge'
export * as secrets from '@aws-sdk/client-secrets-manager'
export * as sqs from '@aws-sdk/client-sqs'
`

type Sdk = {
  dynamodb: typeof import('@aws-sdk/client-dynamodb')
  documents: typeof import('@aws-sdk/lib-dynamodb')
  eventbridge: typeof import('@aws-sdk/client-eventbridge')
  secrets: typeof import('@aws-sdk/client-secrets-manager')
  sqs: typeof import('@aws-sdk/client-sqs')
}

const root = fileURLToPath(new URL('../..', import.meta.url))

async function bundled(code: string) {
  const outfile = join(mkdtempSync(join(tmpdir(), 'lean-')), 'index.cjs')
  const entry = join(root, '.sdk.entry.ts')
  const build = await rolldown({
    ...INPUT,
    cwd: root,
    input: entry,
    plugins: [
      { name: 'entry', load: (id) => (id === entry ? code : null), resolveId: (id) => (id === entry ? id : null) },
    ],
  })
  const { output } = await build.write({ ...OUTPUT, file: outfile, codeSplitting: false })
  await build.close()
  return { outfile, inputs: output[0].moduleIds }
}

describe('the bundled AWS SDK', () => {
  let sdk: Sdk
  let store: TestStore
  const aws = usingAwsServer()

  beforeAll(async () => {
    const { outfile } = await bundled(source)
    sdk = createRequire(import.meta.url)(outfile)
    store = await startStore()
  })
  afterAll(() => store.stop())

  const expectSigned = (service: string) => {
    expect(aws.requests[0]?.headers['x-amz-security-token']).toBe('the-session')
    expect(aws.requests[0]?.headers.authorization).toMatch(
      new RegExp(`Credential=AKIDFUNCTION/\\d+/eu-central-1/${service}/aws4_request`),
    )
  }

  it('writes and reads all attribute types of a table', async () => {
    const { DynamoDBDocumentClient, PutCommand, QueryCommand, UpdateCommand } = sdk.documents
    const client = DynamoDBDocumentClient.from(new sdk.dynamodb.DynamoDBClient({ endpoint: store.endpoint }))
    const TableName = await store.createTable()
    const item = {
      pk: 'a',
      sk: 'b',
      n: 1,
      list: ['x', { deep: true }],
      bytes: new Uint8Array([1, 2]),
      set: new Set(['s']),
    }
    await client.send(new PutCommand({ TableName, Item: item }))
    await client.send(
      new UpdateCommand({
        TableName,
        Key: { pk: 'a', sk: 'b' },
        UpdateExpression: 'SET n = n + :one',
        ExpressionAttributeValues: { ':one': 1 },
      }),
    )
    const found = await client.send(
      new QueryCommand({ TableName, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'a' } }),
    )
    expect(found.Items).toEqual([{ ...item, n: 2 }])
  })

  it('reports why a transaction was cancelled', async () => {
    const { DynamoDBDocumentClient, TransactWriteCommand } = sdk.documents
    const client = DynamoDBDocumentClient.from(new sdk.dynamodb.DynamoDBClient({ endpoint: store.endpoint }))
    const TableName = await store.createTable()
    const put = { Put: { TableName, Item: { pk: 'a', sk: 'b' }, ConditionExpression: 'attribute_not_exists(pk)' } }
    await client.send(new TransactWriteCommand({ TransactItems: [put] }))
    const error = await client.send(new TransactWriteCommand({ TransactItems: [put] })).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(sdk.dynamodb.TransactionCanceledException)
    expect(error.CancellationReasons[0].Code).toBe('ConditionalCheckFailed')
  })

  it('reports the name of an error that carries nothing else', async () => {
    const { DynamoDBDocumentClient, PutCommand } = sdk.documents
    const client = DynamoDBDocumentClient.from(
      new sdk.dynamodb.DynamoDBClient({ endpoint: aws.endpoint, maxAttempts: 1 }),
    )
    for (const name of [
      'TransactionConflictException',
      'ProvisionedThroughputExceededException',
      'AccessDeniedException',
    ]) {
      aws.answers.push({
        status: 400,
        body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'no' }),
      })
      await expect(client.send(new PutCommand({ TableName: 'table', Item: {} }))).rejects.toMatchObject({
        name,
        message: 'no',
      })
    }
  })

  it('retries throttled requests', async () => {
    const body = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException', message: 'slow' })
    aws.answers.push({ status: 400, body }, { status: 200, body: '{}' })
    const { DynamoDBClient, ListTablesCommand } = sdk.dynamodb
    await new DynamoDBClient({ endpoint: aws.endpoint }).send(new ListTablesCommand({}))
    expect(aws.requests).toHaveLength(2)
  })

  it('uses the endpoint of the environment, for one service or for all', async () => {
    const { DynamoDBClient, ListTablesCommand } = sdk.dynamodb
    await forEachEndpointVariable(aws.endpoint, async () => {
      aws.answers.push({ status: 200, body: '{"TableNames":["here"]}' })
      expect((await new DynamoDBClient({}).send(new ListTablesCommand({}))).TableNames).toEqual(['here'])
    })
  })

  it('signs with the credentials of the environment, including the session token', async () => {
    aws.answers.push({ status: 200, body: '{}' })
    const { DynamoDBClient, ListTablesCommand } = sdk.dynamodb
    await new DynamoDBClient({ endpoint: aws.endpoint }).send(new ListTablesCommand({}))
    expectSigned('dynamodb')
  })

  it('reports missing credentials in the environment', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', '')
    const { DynamoDBClient, ListTablesCommand } = sdk.dynamodb
    const call = new DynamoDBClient({ endpoint: aws.endpoint }).send(new ListTablesCommand({}))
    await expect(call).rejects.toMatchObject({ name: 'CredentialsProviderError' })
    expect(aws.requests).toEqual([])
  })

  it('reads a secret', async () => {
    aws.answers.push({ status: 200, body: JSON.stringify({ SecretString: '{"current":"k1"}' }) })
    const { SecretsManagerClient, GetSecretValueCommand } = sdk.secrets
    const answer = await new SecretsManagerClient({ endpoint: aws.endpoint }).send(
      new GetSecretValueCommand({ SecretId: 'ring' }),
    )
    expect(answer.SecretString).toBe('{"current":"k1"}')
    expectSigned('secretsmanager')
  })

  it('sends to a queue, and checks that the queue received the message', async () => {
    const { SQSClient, SendMessageCommand } = sdk.sqs
    const send = () =>
      new SQSClient({ endpoint: aws.endpoint }).send(
        new SendMessageCommand({ QueueUrl: `${aws.endpoint}/q`, MessageBody: 'hello', MessageGroupId: 'g' }),
      )
    aws.answers.push({
      status: 200,
      body: JSON.stringify({ MessageId: '1', MD5OfMessageBody: '5d41402abc4b2a76b9719d911017c592' }),
    })
    expect((await send()).MessageId).toBe('1')
    expectSigned('sqs')
    aws.answers.push({ status: 200, body: JSON.stringify({ MessageId: '2', MD5OfMessageBody: '0'.repeat(32) }) })
    await expect(send()).rejects.toThrow(/InvalidChecksum/)
  })

  it('puts events on the bus and reports which were refused', async () => {
    aws.answers.push({
      status: 200,
      body: JSON.stringify({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'InternalFailure' }] }),
    })
    const { EventBridgeClient, PutEventsCommand } = sdk.eventbridge
    const answer = await new EventBridgeClient({ endpoint: aws.endpoint }).send(
      new PutEventsCommand({ Entries: [{ Source: 's', DetailType: 't', Detail: '{}' }] }),
    )
    expect(answer).toMatchObject({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'InternalFailure' }] })
    expectSigned('events')
  })
})

it('leaves out the chain of credential providers and its clients', async () => {
  const { inputs } = await bundled(`import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
export const made = [DynamoDBClient, GetItemCommand]`)
  const left = /credential-provider-(node|ini|sso|process|http|login|imds)|nested-clients|token-providers/
  expect(inputs.filter((input) => left.test(input))).toEqual([])
})
