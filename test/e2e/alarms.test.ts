import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteItemCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll, expect, it } from 'vitest'
import { KINDS, type Kind } from '#infra/watches/watch.ts'
import { AwsError } from '#local/aws/error.ts'
import { type DeadLetters, parseQueues, type StageQueues } from '#ops/redrive/queues.ts'
import { describeMessage, readMessages } from '#ops/redrive/read-messages.ts'
import { depthOf, redrive } from '#ops/redrive/redrive.ts'
import { duePartition } from '#shared/table/indexes.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { must, newAgent, sandboxToken, send, until } from './support.ts'
import { usingOwnLocal } from './using-local.ts'

const MINUTE = 60_000
const STAFF = { headers: { 'x-admin-key': 'local-admin-key' } }

let offset = 0
let queues: StageQueues
let sqs: SQSClient
let token = ''

const running = usingOwnLocal(() => ({ now: () => Date.now() + offset, watchDynamodb: true }))
const receiver = usingReceiver(succeeds())
beforeAll(async () => {
  const { platform, baseUrl } = running
  sqs = new SQSClient({ ...platform.client, endpoint: platform.endpoints.sqs })
  queues = parseQueues(
    platform.model.queues.map(({ name }) => ({
      id: /Messaging\w+?[0-9A-F]{8}/.exec(name)?.[0] ?? '',
      url: `${platform.endpoints.sqs}/000000000000/${name}`,
    })),
  )
  token = await sandboxToken(
    baseUrl,
    await newAgent(baseUrl, {
      endpoint: receiver.url,
      scopes: ['workspace:read', 'runs:write', 'tasks:read', 'webhooks:manage', 'tools:invoke'],
    }),
  )
  // Scheduled functions would repair what the faults break.
  for (const name of SCHEDULED) platform.pause(name)
  await platform.idle()
})

const SCHEDULED = ['sweeper', 'removals']

/** Advances the clock for queues and metrics. Queue consumers restart to look for messages again. */
const pass = (ms: number) => {
  offset += ms
  for (const { functionArn } of running.platform.model.queueSources) {
    const name = running.platform.model.functions.find(({ arn }) => arn === functionArn)?.name ?? ''
    if (name === 'delivery' || SCHEDULED.includes(name)) continue
    running.platform.pause(name)
    running.platform.resume(name)
  }
}

/** Advances to the start of the next minute, so that everything after it is measured in one minute. */
const nextMinute = () => pass(MINUTE - ((Date.now() + offset) % MINUTE))

/** Reads the health again: the clock that passes is not that of the functions, for which no minute is over. */
const health = async () => {
  await change({ pk: 'PLATFORM#alarms', sk: 'READ' }, undefined)
  return must(running.baseUrl, 'GET', '/admin/health', STAFF)
}

/** Lists the kinds of alarms that are on, as admins see them. Each names its section of the runbook. */
const kindsOn = async (): Promise<Map<Kind, string[]>> => {
  const { reasons } = await health()
  const on = new Map<Kind, string[]>()
  for (const { alarm, message } of reasons as { alarm: string | null; message: string }[]) {
    if (alarm === null) continue
    const kind = message.split('#').at(-1) as Kind
    on.set(kind, [...(on.get(kind) ?? []), message.split(':')[0] ?? ''])
  }
  return on
}

const startRun = async (bearer: string): Promise<string> =>
  (await must(running.baseUrl, 'POST', '/api/v1/runs', { token: bearer, body: { input: {} } })).id

/** Emits an event as the agent, which travels over the bus. */
const emitEvent = async (type: string): Promise<string> => {
  const body = { arguments: { type, data: {} } }
  await must(running.baseUrl, 'POST', '/api/v1/tools/emit_event/invoke', { token, body })
  return type
}

/** Lists the types of the agent's own events in its feed. */
const feed = async (): Promise<string[]> =>
  (await must(running.baseUrl, 'GET', '/api/v1/events?types=custom.*', { token })).items.map(
    ({ type }: { type: string }) => type,
  )

const executed = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()).run.id as string)

const deadLetters = (name: string): DeadLetters => {
  const found = queues.deadLetters.find((one) => one.name === name)
  if (!found) throw new Error(`There is no ${name}`)
  return found
}

/** Puts attributes of an item into the table, or removes the item. */
const change = async (
  { pk, sk }: { pk: string; sk: string },
  attributes: Record<string, { S: string }> | undefined,
) => {
  const { platform } = running
  const client = new DynamoDBClient({ ...platform.client, endpoint: platform.endpoints.dynamodb })
  const key = { [TABLE_LAYOUT.partitionKey]: { S: pk }, [TABLE_LAYOUT.sortKey]: { S: sk } }
  const TableName = platform.tableName
  await (attributes === undefined
    ? client.send(new DeleteItemCommand({ TableName, Key: key }))
    : client.send(new PutItemCommand({ TableName, Item: { ...key, ...attributes } })))
  client.destroy()
}

/** Writes an overdue record that its handler fails on, because its fields are missing, or removes it. */
const poison = (dueAt: number | undefined) => {
  const { partitionKey, sortKey } = TABLE_LAYOUT.indexes.due
  return change(
    { pk: 'POISON#1', sk: 'POISON' },
    dueAt === undefined
      ? undefined
      : { [partitionKey]: { S: duePartition(0) }, [sortKey]: { S: `${dueAt}#loose-manifest` } },
  )
}

const broken = (errorType: string) => async () =>
  ({ kind: 'error', error: { errorType, errorMessage: 'A fault of the test.' } }) as const

/** Makes DynamoDB refuse one read and one write. */
const throttleTable = () => {
  const left = new Set(['BatchGetItem', 'TransactWriteItems'])
  running.platform.onAwsCall(({ service, operation, phase }) => {
    if (service !== 'dynamodb' || phase !== 'before' || !left.delete(operation)) return
    throw new AwsError('ProvisionedThroughputExceededException', 'Too much.')
  })
}

it('each kind of alarm starts with its fault and stops after the fix, and dead letters are redriven once', async () => {
  const { platform, baseUrl } = running
  const seen = new Set<Kind>()
  const look = async () => {
    for (const kind of (await kindsOn()).keys()) seen.add(kind)
  }
  await look()
  expect([...seen]).toEqual([])

  const restores = [
    platform.intercept('pages', broken('Error')),
    platform.intercept('console', broken('TooManyRequestsException')),
  ]
  const [fanOut = ''] = platform.model.queues.flatMap(({ name, arn }) =>
    /MessagingFanout[0-9A-F]{8}/.test(name) ? [arn] : [],
  )
  platform.unreachable.add(fanOut)
  platform.pause('delivery')
  platform.queue('delivery').send({ body: JSON.stringify(NO_DELIVERY) })
  await poison(Date.now() - 30 * MINUTE)
  const body = { email: 'nobody@example.com', password: 'a password that is tried' }

  const events: string[] = []
  const undelivered = platform.queue('Undelivered')
  // The table's clock is the machine's. Ahead of it by more than a minute, every read of its stream counts as late.
  pass(2 * MINUTE)
  for (let minute = 0; minute <= 26; minute++) {
    const early = minute < 4
    if (early) {
      // Read in the minute that is measured.
      platform.pause('relay')
      events.push(await emitEvent(`custom.minute${minute}`))
    }
    nextMinute()
    if (early) {
      platform.resume('relay')
      throttleTable()
      await until(() => (undelivered.counts().visible === events.length ? true : undefined))
      await Promise.all(Array.from({ length: 30 }, () => send(baseUrl, 'GET', '/docs')))
      await platform.invoke('console', {})
      const hook = { url: `${receiver.url}/hook/${minute}`, events: ['task.created'] }
      await must(baseUrl, 'POST', '/api/v1/webhooks', { token, body: hook })
      platform.onAwsCall(undefined)
    }
    if (minute === 3) for (let i = 0; i < 30; i++) await send(baseUrl, 'POST', '/admin/auth/login', { body })
    // Until then nothing sweeps, which triggers an alarm of its own.
    if (minute > 11) await platform.fire('sweeper')
    if ([3, 6, 7, 8, 11, 14, 26].includes(minute)) await look()
  }
  expect(missing(seen)).toEqual(['unanswered-calls'])

  for (const restore of restores) restore()
  platform.unreachable.clear()
  platform.resume('delivery')
  await poison(undefined)
  const done = await redrive(sqs, deadLetters('undelivered'), { queues, everyMs: 50 })
  expect(done).toEqual({ moved: events.length })
  await until(async () => ((await feed()).length >= events.length ? true : undefined))
  await platform.idle(60_000)
  expect((await feed()).sort()).toEqual([...events].sort())

  // An agent runs five runs at a time, and the alarm needs at least twenty calls.
  const dead = await Promise.all(
    Array.from({ length: 4 }, async () =>
      sandboxToken(baseUrl, await newAgent(baseUrl, { endpoint: 'http://127.0.0.1:9' })),
    ),
  )
  for (let window = 0; window < 2; window++) {
    await Promise.all(dead.flatMap((bearer) => Array.from({ length: 5 }, () => startRun(bearer))))
    await platform.idle(60_000)
    if (window === 0) pass(5 * MINUTE)
  }
  await look()
  expect(missing(seen)).toEqual([])

  const later = async (ms: number) => {
    pass(ms)
    // The sweeper runs ten times in five minutes.
    for (let round = 0; round < 10; round++) for (const name of [...SCHEDULED, 'audit']) await platform.fire(name)
    return [...(await kindsOn())]
  }
  // Its window is six hours long, and nobody is called for it.
  expect(await later(40 * MINUTE)).toEqual([['error-budget', ['SlowBurn']]])
  expect(await later(6 * 60 * MINUTE)).toEqual([])
})

/** Kinds whose metrics the local run doesn't have: durations, quotas, and what is seen from outside. */
const UNMEASURED: Kind[] = ['slow-requests', 'long-invocations', 'account-concurrency', 'failed-journey']

const missing = (seen: ReadonlySet<Kind>) =>
  Object.keys(KINDS).filter((kind) => !seen.has(kind as Kind) && !UNMEASURED.includes(kind as Kind))

it('a message that a worker failed on too often is redriven and processed once', async () => {
  const { platform } = running
  const before = receiver.requests.length
  const restore = platform.intercept('dispatch', broken('Error'))
  const run = await startRun(token)
  const dead = platform.queue('Failed')
  for (let i = 0; dead.counts().visible === 0 && i < 1_000; i++) {
    pass(5 * MINUTE)
    await sleep(50)
  }
  expect(await depthOf(sqs, deadLetters('failed').url)).toBe(1)
  const [shown] = (await readMessages(sqs, deadLetters('failed').url, 10)).map(describeMessage)
  expect(shown).toContain(`run.created`)
  expect(shown).toMatch(/queue=\S*MessagingDispatch/)
  expect(shown).toContain(run)
  pass(MINUTE)
  restore()
  expect(await redrive(sqs, deadLetters('failed'), { queues, rate: 100, everyMs: 50 })).toEqual({ moved: 1 })
  await until(() => (receiver.requests.length > before ? true : undefined))
  await platform.idle(60_000)
  expect(executed().slice(before)).toEqual([run])
  expect(await depthOf(sqs, deadLetters('failed').url)).toBe(0)
})

it('records of events that the relay gave up on are removed', async () => {
  const { platform } = running
  platform.queue('Unrelayed').send({ body: JSON.stringify({ DDBStreamBatchInfo: { shardId: 's', batchSize: 1 } }) })
  const found = await readMessages(sqs, deadLetters('unrelayed').url, 10)
  expect(found.map(describeMessage)[0]).toContain('shard=s')
  pass(MINUTE)
  expect(await redrive(sqs, deadLetters('unrelayed'), { queues })).toMatchObject({ moved: 1 })
})

const NO_DELIVERY = {
  kind: 'delivery',
  delivery_id: 'whd_none',
  webhook_id: 'whk_none',
  installation_id: 'ins_none',
  workspace_id: 'ws_none',
  app_id: 'app_none',
  event_id: 'evt_none',
  attempt: 1,
}
