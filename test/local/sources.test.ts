import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AwsError, ConnectionLost } from '#local/aws/error.ts'
import type { AwsHook } from '#local/aws/server.ts'
import type { Platform, PlatformOptions } from '#local/platform.ts'
import { startFixture, temporaryFolder, until } from './support.ts'

let place: ReturnType<typeof temporaryFolder>
let platform: Platform
let table: DynamoDBClient

const open = async (options: Partial<PlatformOptions> = {}) => {
  platform = await startFixture(place.folder, { visibilitySeconds: 1, ...options })
  table = new DynamoDBClient({ ...platform.client, endpoint: platform.endpoints.dynamodb })
}
beforeEach(async () => {
  place = temporaryFolder()
  await open()
})
afterEach(async () => {
  await platform.stop()
  place.remove()
})

const outboxItem = (id: string, extra: object = {}) => ({
  pk: { S: `thing#${id}` },
  sk: { S: 'event' },
  _e: { S: 'outbox' },
  detail: { S: JSON.stringify({ id, ...extra }) },
})
const write = (id: string, extra: object = {}) =>
  table.send(new PutItemCommand({ TableName: platform.tableName, Item: outboxItem(id, extra) }))
/** Writes several items in one transaction, so that they are in one batch of the stream. */
const writeAll = (...items: ReturnType<typeof outboxItem>[]) =>
  table.send(
    new TransactWriteItemsCommand({
      TransactItems: items.map((Item) => ({ Put: { TableName: platform.tableName, Item } })),
    }),
  )
const read = async (pk: string, sk: string) => {
  const Key = { pk: { S: pk }, sk: { S: sk } }
  return (await table.send(new GetItemCommand({ TableName: platform.tableName, Key, ConsistentRead: true }))).Item
}
const seen = (id: string) => read(`seen#${id}`, 'seen')
const times = async (id: string) => Number((await seen(id))?.times?.N ?? 0)

test('a committed request is processed by table, stream, bus, queue and worker', async () => {
  const answer = await fetch(`${platform.baseUrl}/v1/things/abc`, { method: 'POST', body: '{}' })
  expect(answer.status).toBe(201)
  expect(await until(() => seen('abc'))).toMatchObject({ times: { N: '1' }, receives: { N: '1' } })
  await platform.idle()
  expect(await times('abc')).toBe(1)
})

test('the stream’s filter passes only new outbox items', async () => {
  const events: unknown[] = []
  platform.intercept('relay', (event, next) => {
    events.push(event)
    return next(event)
  })
  const { detail, ...plain } = outboxItem('plain')
  await table.send(new PutItemCommand({ TableName: platform.tableName, Item: { ...plain, _e: { S: 'run' } } }))
  await write('first')
  await table.send(
    new UpdateItemCommand({
      TableName: platform.tableName,
      Key: { pk: { S: 'thing#first' }, sk: { S: 'event' } },
      UpdateExpression: 'SET a = :a',
      ExpressionAttributeValues: { ':a': { B: new Uint8Array([1]) } },
    }),
  )
  await write('second')
  await until(() => seen('second'))
  const records = (
    events as { Records: { eventName: string; dynamodb: { NewImage: { pk: { S: string } } } }[] }[]
  ).flatMap(({ Records }) => Records)
  expect(records.map(({ eventName, dynamodb }) => [eventName, dynamodb.NewImage.pk.S])).toEqual([
    ['INSERT', 'thing#first'],
    ['INSERT', 'thing#second'],
  ])
  expect(records[0]).toMatchObject({
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    eventSourceARN: platform.model.streamSources[0]?.streamArn,
    dynamodb: { SequenceNumber: expect.any(String), ApproximateCreationDateTime: expect.any(Number) },
  })
})

test('a poison record is isolated and dead-lettered; all others arrive after its retries', {
  timeout: 60_000,
}, async () => {
  platform.pause('relay')
  const items = ['a', 'b', 'c', 'd'].map((id) => outboxItem(id))
  await writeAll(...items, outboxItem('bad', { poison: true }))
  await write('after')
  platform.resume('relay')
  for (const id of ['a', 'b', 'c', 'd', 'after']) await until(() => seen(id), 30_000)
  const [notice] = await platform.queue('WorkDlq').receive({ max: 10 })
  expect(JSON.parse(notice?.body ?? '{}')).toMatchObject({
    requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 3 },
    DDBStreamBatchInfo: { batchSize: 1 },
  })
})

test('a message that its worker reports is redelivered, then dead-lettered; the rest of its batch is not', async () => {
  platform.pause('worker')
  await writeAll(outboxItem('good'), outboxItem('bad', { fail: true }))
  await until(() => (platform.queue('work').counts().visible === 2 ? true : undefined))
  platform.resume('worker')
  const dead = await until(async () => (await platform.queue('WorkDlq').receive({ max: 1 }))[0], 20_000)
  expect(JSON.parse(dead.body)).toMatchObject({ detail: { id: 'bad' } })
  expect(await seen('bad')).toMatchObject({ times: { N: '2' }, receives: { N: '2' } })
  expect(await times('good')).toBe(1)
})

test('no more batches run at once than the mapping allows', async () => {
  let running = 0
  let most = 0
  platform.intercept('worker', async (event, next) => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const result = await next(event)
    running -= 1
    return result
  })
  for (let i = 0; i < 30; i += 1) await write(`c${i}`)
  await platform.idle()
  expect(most).toBe(2)
  expect(await times('c29')).toBe(1)
})

describe('a hook on AWS calls', () => {
  const fire = async (hook: AwsHook) => {
    await platform.stop()
    await open({ watchDynamodb: true })
    platform.onAwsCall((call) =>
      call.functionName === 'sweep' && call.service === 'dynamodb' ? hook(call) : undefined,
    )
    await platform.fire('sweep')
  }

  test('breaks the connection after the call, and the SDK retries it', async () => {
    let calls = 0
    await fire(({ phase }) => {
      if (phase === 'before') calls += 1
      else if (calls === 1) throw new ConnectionLost()
    })
    expect(calls).toBe(2)
    expect(await read('sweep', 'last')).toBeDefined()
  })

  test('fails the call with the service’s additional fields besides code and message', async () => {
    await platform.stop()
    await open({ watchDynamodb: true })
    const CancellationReasons = [{ Code: 'TransactionConflict' }]
    platform.onAwsCall(() => {
      throw new AwsError('com.amazonaws.dynamodb.v20120810#TransactionCanceledException', 'no', 400, {
        CancellationReasons,
      })
    })
    await expect(read('any', 'thing')).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons,
    })
  })

  test('changes the answer', async () => {
    await platform.stop()
    await open({ watchDynamodb: true })
    platform.onAwsCall(({ operation, phase }) =>
      operation === 'GetItem' && phase === 'after' ? { Item: { pk: { S: 'other' } } } : undefined,
    )
    expect(await read('any', 'thing')).toEqual({ pk: { S: 'other' } })
  })
})

test('a function’s clock has the set offset, in its thread and in the next one; its timeout isn’t affected', async () => {
  const hour = 3_600_000
  const clock = async () => {
    const result = await platform.invoke('api', { queryStringParameters: { mode: 'clock' }, resource: '/' })
    return JSON.parse((result as { value: { body: string } }).value.body)
  }
  platform.shiftClock(-hour, 'api')
  for (let thread = 0; thread < 2; thread++) {
    const { now, date, epoch, remaining } = await clock()
    const real = Date.now()
    for (const time of [now, Date.parse(date)]) expect(Math.abs(time - (real - hour))).toBeLessThan(hour / 2)
    expect([Date.parse(epoch), remaining > 0 && remaining < hour / 2]).toEqual([0, true])
    await platform.kill('api')
  }
  platform.shiftClock(0)
  expect(Math.abs((await clock()).now - Date.now())).toBeLessThan(hour / 2)
})

describe('killed at any point, the platform loses nothing', () => {
  test('a relay that dies after its event was accepted receives the event again', async () => {
    let kills = 0
    platform.onAwsCall(async ({ functionName, phase }) => {
      if (functionName !== 'relay' || phase !== 'after' || kills > 0) return
      kills += 1
      await platform.kill('relay')
    })
    await write('x')
    await until(async () => ((await times('x')) >= 2 ? true : undefined))
    expect(kills).toBe(1)
  })

  test('a worker that dies after its write receives the message again', async () => {
    await platform.stop()
    await open({ watchDynamodb: true })
    let kills = 0
    platform.onAwsCall(async ({ functionName, operation, phase }) => {
      if (functionName !== 'worker' || operation !== 'UpdateItem' || phase !== 'after' || kills > 0) return
      kills += 1
      await platform.kill('worker')
    })
    await write('y')
    await until(async () => ((await times('y')) === 2 ? true : undefined))
    expect(await seen('y')).toMatchObject({ receives: { N: '2' } })
  })
})

test('a restart continues at the stream’s position, without doing anything twice', async () => {
  await write('before')
  await until(() => seen('before'))
  await platform.idle()
  platform.pause('relay')
  await write('meanwhile')
  await platform.stop()
  await open()
  await until(() => seen('meanwhile'))
  await platform.idle()
  expect(await times('before')).toBe(1)
  expect(await times('meanwhile')).toBe(1)
})

test('a schedule fires with the event of EventBridge, and its function reads its secret', async () => {
  await platform.fire('sweep')
  const item = await read('sweep', 'last')
  expect(item?.source?.S).toBe('aws.events')
  expect(JSON.parse(item?.secret?.S ?? '{}')).toMatchObject({ current: 'k1' })
})

test('expired items are deleted, others are kept', async () => {
  const now = Math.floor(Date.now() / 1_000)
  const put = (pk: string, ttl: number) =>
    table.send(
      new PutItemCommand({
        TableName: platform.tableName,
        Item: { pk: { S: pk }, sk: { S: 's' }, ttl: { N: String(ttl) } },
      }),
    )
  await put('old', now - 5)
  await put('new', now + 500)
  expect(await platform.expire()).toBe(1)
  expect(await read('old', 's')).toBeUndefined()
  expect(await read('new', 's')).toBeDefined()
})
