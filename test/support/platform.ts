import { DynamoDBDocumentClient, type PutCommand, type TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { requestFunctions, workers } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import { noBot } from '#shared/adapters/no-bot.ts'
import { noModel } from '#shared/adapters/no-model.ts'
import { noMonitoring } from '#shared/adapters/no-monitoring.ts'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import type { Deps, WorkerWork } from '#shared/domain/deps.ts'
import type { OutgoingHttp } from '#shared/domain/ports.ts'
import { OutboxEntity, type OutboxEvent } from '#shared/entities/events.ts'
import { QUEUES } from '#shared/events/queues.ts'
import { createPipeline, type RequestHandler } from '#shared/http/pipeline.ts'
import { buffered } from '#shared/http/streamed.ts'
import { type BatchWorker, type QueueWorker, runWorker } from '#shared/http/worker.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { QUEUE_NAMES, type QueueName } from '#shared/kernel/queue-names.ts'
import { readSettings } from '#shared/kernel/settings.ts'
import { Table } from '#shared/table/table.ts'
import { everyAuthenticator } from './authenticators.ts'
import { TestClock } from './clock.ts'
import { startStore } from './store.ts'

export interface CallOptions {
  headers?: Record<string, string>
  /** Bearer token. */
  token?: string
  /** JSON body; a string goes out as it is. */
  body?: unknown
  sourceIp?: string
}

export interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  body: any
  text: string
}

interface QueuedMessage {
  queue: QueueName
  body: unknown
  dueAt: number
  group: string | undefined
}

/** The platform's own bot as its secret describes it. */
export const TEST_BOT = { token: '42:test-bot-token-of-the-tests-0123456789', webhookSecret: 'webhookSecret'.repeat(5) }

/**
 * The whole platform in one process over a real store: every group's pipeline, every worker, with a clock that tests
 * move. Events and messages wait until `drain` hands them on, so a test decides what arrives when, twice or never.
 */
export const startPlatform = async (env: Record<string, string> = {}) => {
  const store = await startStore()
  const tableName = await store.createTable()
  const clock = new TestClock()
  const settings = readSettings({
    STAGE: 'local',
    BASE_URL: 'https://platform.test',
    TABLE_NAME: tableName,
    AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
    CONSOLE_AUTO_PROVISION: 'true',
    ALLOW_LOOPBACK_TARGETS: 'true',
    LOCAL_ADMIN: 'true',
    ADDRESS_RATE_LIMITS: 'false',
    // Nobody answers there; test/support/telegram.ts points the bot at a Bot API of its own.
    TELEGRAM_API_URL: 'http://127.0.0.1:1',
    ...env,
  })
  const logs: string[] = []
  const objects = new Map<string, Uint8Array>()
  const outbox: OutboxEvent[] = []
  const messages: QueuedMessage[] = []

  const client = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      for (const item of itemsPut(args.input)) {
        if (item._e === OutboxEntity.name) outbox.push(item as unknown as OutboxEvent)
      }
      return result
    },
    { step: 'initialize', priority: 'high', name: 'outbox-tap' },
  )

  const ring = (seed: string) =>
    parseKeyring(JSON.stringify({ current: 'k1', k1: `${seed}-secret-of-the-tests-`.padEnd(64, 'x') }))
  const rings = { tokens: ring('tokens'), admin: ring('admin'), data: ring('data') }
  const deps: Deps & Pick<WorkerWork, 'queues' | 'bus'> = {
    settings,
    clock,
    table: new Table({
      client,
      tableName,
      shards: 2,
      payloadDays: settings.payloadRetentionDays,
      clock,
      checkWrites: true,
    }),
    keys: { tokens: async () => rings.tokens, admin: async () => rings.admin, data: async () => rings.data },
    objects: {
      put: async (key, bytes) => void objects.set(key, bytes),
      get: async (key) => objects.get(key),
      head: async (key) => objects.get(key)?.byteLength,
      delete: async (key) => void objects.delete(key),
      // Nobody answers there; test/support/bucket.ts gives the platform a bucket that does.
      presignPut: async (key, { contentType }) => ({
        url: `https://bucket.test/${key}?X-Amz-Signature=put`,
        headers: { 'content-type': contentType, 'if-none-match': '*' },
      }),
      presignGet: async (key) => `https://bucket.test/${key}?X-Amz-Signature=get`,
    },
    http: atOnce(createOutgoingHttp({ allowLoopbackHttp: settings.allowLoopbackTargets })),
    bot: createTelegramBot({ credentials: async () => TEST_BOT, apiUrl: settings.telegram.apiUrl, clock }),
    // As deployed without a key; tests of inline agents put one that answers here.
    model: createLanguageModel({ key: async () => undefined, apiUrl: undefined, name: undefined }),
    // Nobody watches; tests of the platform's health put one that does here.
    monitoring: noMonitoring,
    queues: {
      async send(queue, sent) {
        for (const { body, delayMs = 0, group } of sent) {
          messages.push({ queue, body, dueAt: clock.now() + Math.min(delayMs, 900_000), group })
        }
      },
    },
    bus: {
      async put(events) {
        for (const event of events) {
          for (const queue of QUEUE_NAMES) {
            const types = QUEUES[queue].fromBus
            if (types?.includes('*') || types?.includes(event.type)) {
              messages.push({
                queue,
                body: { 'detail-type': event.type, detail: event },
                dueAt: clock.now(),
                group: undefined,
              })
            }
          }
        }
        return { taken: events.length }
      },
    },
    log: createLogger('debug', {}, (line) => logs.push(line)),
  }

  const plans = new Map(planFunctions({ requestFunctions, workers }).map((plan) => [plan.name, plan.capabilities]))
  /** The dependencies as a deployed function has them: with the keyrings that its role may read and, if it declares that, the bot. */
  const depsOf = (name: string): typeof deps => {
    const ringFor = (ring: keyof typeof rings) => async () => {
      if (!plans.get(name)?.includes(`keys:${ring}`)) throw new Error(`${name} may not read the ${ring} keyring`)
      // Tests of a rotation put rings here that change.
      return deps.keys[ring]()
    }
    const bot = plans.get(name)?.includes('bot') ? deps.bot : noBot
    const model = plans.get(name)?.includes('model') ? deps.model : noModel
    return { ...deps, bot, model, keys: { tokens: ringFor('tokens'), admin: ringFor('admin'), data: ringFor('data') } }
  }

  const pipelines = Object.entries(requestFunctions).map(([name, endpoints]): [typeof endpoints, RequestHandler] => [
    endpoints,
    buffered(
      createPipeline(endpoints, everyAuthenticator, async () => depsOf(name)),
      // What follows something ends when it is cut; what is only large ends by itself.
      endpoints.some(({ produces }) => produces === 'text/event-stream') ? 400 : 60_000,
    ),
  ])

  /** Sends a request through its group's pipeline, as API Gateway would. */
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const url = new URL(path, settings.baseUrl)
    const raw =
      options.body === undefined ? null : typeof options.body === 'string' ? options.body : JSON.stringify(options.body)
    const headers: Record<string, string> = {
      ...(raw !== null && { 'content-type': 'application/json' }),
      ...(options.token && { authorization: `Bearer ${options.token}` }),
      ...options.headers,
    }
    const event = {
      httpMethod: method,
      path: url.pathname,
      headers,
      multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      multiValueQueryStringParameters: Object.fromEntries(
        [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)]),
      ),
      body: raw,
      isBase64Encoded: false,
      requestContext: { identity: { sourceIp: options.sourceIp ?? '203.0.113.7' }, requestId: 'gateway' },
    } as unknown as APIGatewayProxyEvent
    const result = await pipelineFor(pipelines, method, url.pathname)(event, {} as Context)
    const text = result.isBase64Encoded ? Buffer.from(result.body, 'base64').toString() : result.body
    const type = String(result.headers?.['content-type'] ?? '')
    return {
      status: result.statusCode,
      headers: result.headers as Record<string, string>,
      text,
      body: type.includes('json') && text ? JSON.parse(text) : undefined,
    }
  }

  const handlers = new Map(
    workers.flatMap((worker) =>
      worker.source.kind === 'queue'
        ? [[worker.source.queue, runWorker(worker as QueueWorker | BatchWorker, () => depsOf(worker.name))] as const]
        : [],
    ),
  )

  /** Hands messages of one queue to its worker as one batch, as SQS would. @returns of each whether it was handled */
  const deliverBatch = async (batch: readonly Pick<QueuedMessage, 'queue' | 'body'>[]): Promise<boolean[]> => {
    const worker = batch[0] && handlers.get(batch[0].queue)
    const records = batch.map(({ body }, i) => ({ messageId: `m${i}`, body: JSON.stringify(body), attributes: {} }))
    const result = await worker?.({ Records: records })
    const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    return records.map(({ messageId }) => !failed.has(messageId))
  }

  /** Hands one message to its worker. @returns whether it was handled */
  const deliver = async (message: QueuedMessage): Promise<boolean> => (await deliverBatch([message])).every(Boolean)

  /** Relays what waits in the outbox and works off every message that is due, until nothing moves any more. */
  const drain = async (): Promise<void> => {
    for (let round = 0; round < 200; round++) {
      const events = outbox.splice(0)
      if (events.length > 0) await deps.bus.put(events)
      const due = messages.filter((message) => message.dueAt <= clock.now())
      if (due.length === 0 && events.length === 0) return
      for (const message of due) messages.splice(messages.indexOf(message), 1)
      await Promise.all(
        batchesOf(due).map(async (batch) => {
          // What failed goes back to the end.
          for (const [i, ok] of (await deliverBatch(batch)).entries()) if (!ok) messages.push(batch[i] as QueuedMessage)
        }),
      )
    }
    throw new Error('the platform does not come to rest')
  }

  /** Runs the overdue sweep once. */
  const sweep = async (): Promise<void> => {
    for (const worker of workers) {
      if (worker.source.kind === 'schedule') await runWorker(worker, () => depsOf(worker.name))({})
    }
  }

  return {
    call,
    drain,
    sweep,
    deliver,
    deliverBatch,
    deps,
    clock,
    store,
    tableName,
    logs,
    objects,
    outbox,
    messages,
    settings,
    stop: () => store.stop(),
  }
}

export type TestPlatform = Awaited<ReturnType<typeof startPlatform>>

/** Messages by their queues, as many together as one of its batches holds. */
const batchesOf = (due: readonly QueuedMessage[]): QueuedMessage[][] =>
  QUEUE_NAMES.flatMap((queue) => {
    const own = due.filter((message) => message.queue === queue)
    const size = QUEUES[queue].batchSize
    return Array.from({ length: Math.ceil(own.length / size) }, (_, i) => own.slice(i * size, (i + 1) * size))
  })

/** Whom nobody can connect to is tried as often as ever, without the seconds between the tries. */
const atOnce = (http: OutgoingHttp): OutgoingHttp => ({
  ...http,
  send: ({ connectRetryPausesMs = [], ...request }) =>
    http.send({ ...request, connectRetryPausesMs: connectRetryPausesMs.map(() => 1) }),
})

const itemsPut = (input: unknown): Record<string, unknown>[] => {
  const { Item, TransactItems } = input as Partial<PutCommand['input'] & TransactWriteCommand['input']>
  if (Item) return [Item]
  return (TransactItems ?? []).flatMap((one) => (one.Put?.Item ? [one.Put.Item] : []))
}

/** The group whose paths match longest, as the gateway's routes do. */
const pipelineFor = (
  pipelines: [readonly { path: string; method: string; waits?: true }[], RequestHandler][],
  method: string,
  path: string,
): RequestHandler => {
  const matches = pipelines.find(([endpoints]) =>
    endpoints.some((endpoint) => endpoint.method === method && pattern(endpoint.path).test(path)),
  )
  const byPath = pipelines.find(([endpoints]) => endpoints.some((endpoint) => pattern(endpoint.path).test(path)))
  const prefix = [...pipelines]
    .map(([endpoints, handler]) => ({
      length: sharedPrefix(
        endpoints.map((endpoint) => endpoint.path),
        path,
      ),
      handler,
    }))
    .sort((a, b) => b.length - a.length)[0]
  const found = matches?.[1] ?? byPath?.[1] ?? prefix?.handler
  if (!found) throw new Error('no group')
  return found
}

const pattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`)

const sharedPrefix = (paths: string[], path: string): number =>
  Math.max(
    0,
    ...paths.map((one) => {
      let n = 0
      while (n < one.length && one[n] === path[n]) n++
      return n
    }),
  )
