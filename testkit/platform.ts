import type { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import { noBot } from '#shared/adapters/no-bot.ts'
import { noModel } from '#shared/adapters/no-model.ts'
import { noMonitoring } from '#shared/adapters/no-monitoring.ts'
import { noSockets } from '#shared/adapters/no-sockets.ts'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import { createWorkspaceKeys } from '#shared/adapters/workspace-keys.ts'
import { OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'
import type { Deps, WorkerWork } from '#shared/foundation/work/work.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import type { RequestHandler } from '#shared/http/exchange.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { lazyEndpoints, routeFields } from '#shared/http/route.ts'
import { bufferStreams, isStreamed, type StreamedResult } from '#shared/http/streamed.ts'
import { runWorker } from '#shared/http/worker.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { type Keys, RING_NAMES, type RingName } from '#shared/kernel/ports/keys.ts'
import type { MailMessage } from '#shared/kernel/ports/mail.ts'
import type { OutgoingHttp } from '#shared/kernel/ports/outgoing-http.ts'
import { QUEUE_NAMES, type QueueName } from '#shared/kernel/queue-names.ts'
import { readSettings } from '#shared/kernel/settings.ts'
import { exportingSpans } from '#shared/kernel/tracing/scope.ts'
import { AuditIntakeEntity, type NewAuditEntry } from '#shared/staff/audit/entity.ts'
import { recordEntries } from '#shared/staff/audit/record.ts'
import { Table } from '#shared/table/table.ts'
import { everyAuthenticator } from './authenticators.ts'
import { TestClock } from './clock.ts'
import { differencesFromDocument } from './documented.ts'
import { startStore, type TestStore } from './store.ts'

export interface CallOptions {
  headers?: Record<string, string>
  /** Bearer token. */
  token?: string
  /** JSON body. A string is sent unchanged. */
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

/** Returns the body of an answer that isn't an error. */
export const succeeded = async (answer: Promise<Answer> | Answer): Promise<Answer['body']> => {
  const { status, body, text } = await answer
  if (status >= 300) throw new Error(`${status}: ${text}`)
  return body
}

interface QueuedMessage {
  queue: QueueName
  body: unknown
  dueAt: number
  group: string | undefined
}

/** Secret of the platform's bot. */
export const TEST_BOT = { token: '42:test-bot-token-of-the-tests-0123456789', webhookSecret: 'webhookSecret'.repeat(5) }

/**
 * Starts the whole platform in one process over a real store: every group's pipeline and every worker, with a clock that tests
 * move. Events and messages wait until `drain` delivers them, so a test decides what arrives when, twice or never.
 * @param given store for the platform's table; by default a new one
 */
export const startPlatform = async (env: Record<string, string> = {}, given?: TestStore) => {
  const store = given ?? (await startStore())
  const tableName = await store.createTable()
  const auditTableName = await store.createTable()
  const clock = new TestClock()
  const settings = readSettings({
    STAGE: 'local',
    BASE_URL: 'https://platform.test',
    TABLE_NAME: tableName,
    AUDIT_TABLE_NAME: auditTableName,
    AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
    CONSOLE_AUTO_PROVISION: 'true',
    ALLOW_LOOPBACK_TARGETS: 'true',
    LOCAL_ADMIN: 'true',
    STAFF_SECOND_FACTOR: 'optional',
    ADDRESS_RATE_LIMITS: 'false',
    DEVELOPER_PROOF: 'false',
    MAIL_FROM: 'platform@example.com',
    // Nothing listens there. testkit/telegram.ts points the bot at its own Bot API.
    TELEGRAM_API_URL: 'http://127.0.0.1:1',
    ...env,
  })
  const logs: string[] = []
  const objects = new Map<string, Uint8Array>()
  const outbox: OutboxEvent[] = []
  const emitted: OutboxEvent[] = []
  const mails: MailMessage[] = []
  const streamed: string[] = []
  const messages: QueuedMessage[] = []

  /** Ids of audit entries that the stream doesn’t bring. */
  const lost = new Set<string>()
  // Records audit entries at once, as the worker of the table's stream does a moment later.
  const record = async (items: Record<string, unknown>[]): Promise<void> => {
    const schema = AuditIntakeEntity.schema()
    await recordEntries(
      { ...deps, table: recorder },
      items.map((item) => schema.parse(item)),
    )
  }
  const client = store.documents
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const put = itemsPut(args.input)
      const events = put.filter((item) => item._e === OutboxEntity.name) as unknown as OutboxEvent[]
      emitted.push(...events)
      outbox.push(...events.filter((event) => !event.carried))
      const audited = put.filter((item) => item._e === AuditIntakeEntity.name && !lost.has(String(item.id)))
      if (audited.length > 0) await record(audited)
      return result
    },
    { step: 'initialize', priority: 'high', name: 'outbox-tap' },
  )

  const perRing = (read: (name: RingName) => Keys[RingName]) =>
    Object.fromEntries(RING_NAMES.map((name) => [name, read(name)])) as Record<RingName, Keys[RingName]>
  const rings = perRing((seed) => {
    const ring = parseKeyring(JSON.stringify({ current: 'k1', k1: `${seed}-secret-of-the-tests-`.padEnd(64, 'x') }))
    return async () => ring
  })
  /** The bucket's objects with data keys, apart from those that tests look at. */
  const dataKeys = new Map<string, Uint8Array>()
  const keyObjects = {
    get: async (key: string) => dataKeys.get(key),
    put: async (key: string, bytes: Uint8Array) => void dataKeys.set(key, bytes),
    create: async (key: string, bytes: Uint8Array) => {
      if (dataKeys.has(key)) return false
      dataKeys.set(key, bytes)
      return true
    },
  }
  const deps: Deps & Pick<WorkerWork, 'bus'> = {
    settings,
    clock,
    table: new Table({
      client,
      tableName,
      auditTableName,
      shards: 2,
      dueShards: env.DUE_SHARDS === undefined ? undefined : settings.dueShards,
      payloadDays: settings.payloadRetentionDays,
      clock,
      checkWrites: true,
    }),
    keys: {
      ...rings,
      publicKeys: {
        find: async (ring, id) => (await deps.keys[ring]()).signing(id)?.publicKey,
      },
      ...createWorkspaceKeys({
        objects: keyObjects,
        clock,
        data: () => deps.keys.data(),
        fresh: 300_000,
      }),
    },
    objects: {
      put: async (key, bytes) => void objects.set(key, bytes),
      create: async (key, bytes) => {
        if (objects.has(key)) return false
        objects.set(key, bytes)
        return true
      },
      get: async (key) => objects.get(key),
      head: async (key) => objects.get(key)?.byteLength,
      delete: async (key) => void objects.delete(key),
      // Nothing listens there. testkit/bucket.ts gives the platform a real bucket.
      presignPut: async (key, { contentType }) => ({
        url: `https://bucket.test/${key}?X-Amz-Signature=put`,
        headers: { 'content-type': contentType, 'if-none-match': '*' },
      }),
      presignGet: async (key) => `https://bucket.test/${key}?X-Amz-Signature=get`,
    },
    http: atOnce(createOutgoingHttp({ allowLoopbackHttp: settings.allowLoopbackTargets })),
    bot: createTelegramBot({ credentials: async () => TEST_BOT, apiUrl: settings.telegramApiUrl, clock }),
    // As deployed without a key. Tests of inline agents replace it with a model that answers.
    model: createLanguageModel({ key: async () => undefined, apiUrl: undefined, name: undefined }),
    mail: { send: async (message) => void mails.push(message) },
    // No monitoring. Tests of the platform's health replace it.
    monitoring: noMonitoring,
    // No gateway. Tests of live connections replace it.
    sockets: noSockets,
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
    log: createLogger('debug', (line) => logs.push(line)),
  }

  const recorder = new Table({
    client: store.documents,
    tableName,
    auditTableName,
    shards: 2,
    dueShards: env.DUE_SHARDS === undefined ? undefined : settings.dueShards,
    clock,
  })

  const plans = new Map(
    planFunctions({ requestFunctions, workerFunctions }).map((plan) => [plan.name, plan.capabilities]),
  )
  /** Returns the dependencies of a deployed function, with only the keyrings that its role may read and, if declared, the bot. */
  const depsOf = (name: string): typeof deps => {
    const ringFor = (ring: RingName) => async () => {
      if (!plans.get(name)?.includes(`keys:${ring}`)) throw new Error(`${name} may not read the ${ring} keyring`)
      // Tests of a rotation replace these with rings that change.
      return deps.keys[ring]()
    }
    const bot = plans.get(name)?.includes('bot') ? deps.bot : noBot
    const model = plans.get(name)?.includes('model') ? deps.model : noModel
    const queues: Deps['queues'] = {
      send: async (queue, sent) => {
        if (!plans.get(name)?.includes(`queue:${queue}`)) throw new Error(`${name} may not send to the queue ${queue}`)
        await deps.queues.send(queue, sent)
      },
    }
    const http = plans.get(name)?.includes('outgoing') ? deps.http : { ...deps.http, send: sendsNothing }
    return {
      ...deps,
      bot,
      http,
      model,
      queues,
      keys: {
        ...perRing(ringFor),
        ofWorkspace: (id) => {
          if (!plans.get(name)?.includes('keys:data')) throw new Error(`${name} may not read data keys`)
          return deps.keys.ofWorkspace(id)
        },
        destroyWorkspaceKey: async (id) => {
          if (!plans.get(name)?.includes('keys:destroy')) throw new Error(`${name} may not destroy data keys`)
          await deps.keys.destroyWorkspaceKey(id)
        },
        publicKeys: plans.get(name)?.includes('keys:public') ? deps.keys.publicKeys : noPublicKeys(name),
      },
    }
  }

  const watched = (result: APIGatewayProxyResult): APIGatewayProxyResult => {
    if (!isStreamed(result)) return result
    const pieces = async function* (signal: AbortSignal) {
      for await (const piece of result.pieces(signal)) {
        streamed.push(piece)
        yield piece
      }
    }
    return { ...result, pieces } as StreamedResult
  }
  const pipelines = Object.entries(requestFunctions).map(([name, endpoints]): [typeof endpoints, RequestHandler] => {
    // As deployed: endpoints are known by their routes, and loaded at their first request.
    const served = lazyEndpoints(endpoints.map(routeFields), async () => ({ endpoints }))
    const pipeline = createPipeline(served, everyAuthenticator, async () => depsOf(name))
    // Event streams are cut off. Other streams are only large or slow, and those of MCP end with the call.
    const isCut = (path: string, type: unknown) => type === 'text/event-stream' && !path.startsWith('/mcp')
    return [
      endpoints,
      async (event, context) => {
        const result = await pipeline(event, context)
        const forMs = isCut(event.path, result.headers?.['content-type']) ? 400 : 60_000
        return bufferStreams(async () => watched(result), forMs)(event, context)
      },
    ]
  })

  /**
   * Sends a request through its group's pipeline, as API Gateway would.
   * @throws if the OpenAPI document doesn't describe the answer
   */
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
    const content = result.isBase64Encoded ? Buffer.from(result.body, 'base64').toString() : result.body
    // The gateway sends the length of a HEAD's body, and not the body.
    const text = method === 'HEAD' ? '' : content
    const type = String(result.headers?.['content-type'] ?? '')
    const answer = {
      status: result.statusCode,
      headers: result.headers as Record<string, string>,
      text,
      body: type.includes('json') && text ? JSON.parse(text) : undefined,
    }
    const endpoint = endpointAt(method, url.pathname)
    const untrue = endpoint ? differencesFromDocument(endpoint, answer) : []
    if (untrue.length > 0) throw new Error(`${endpoint?.id} isn't as its document says: ${untrue.join('; ')}\n${text}`)
    return answer
  }

  const traced =
    (...[worker, deps]: Parameters<typeof runWorker>): ReturnType<typeof runWorker> =>
    (...args) =>
      exportingSpans(deps().traces, (invocation) => runWorker(worker, deps, invocation)(...args))

  const handlers = new Map(
    Object.entries(workerFunctions).flatMap(([name, workers]) =>
      workers.flatMap((worker) =>
        worker.source.kind === 'queue' ? [[worker.source.queue, traced(worker, () => depsOf(name))] as const] : [],
      ),
    ),
  )

  /** Delivers messages of one queue to its worker as one batch, as SQS would. @returns for each message, true if it was handled */
  const deliverBatch = async (batch: readonly Pick<QueuedMessage, 'queue' | 'body'>[]): Promise<boolean[]> => {
    const worker = batch[0] && handlers.get(batch[0].queue)
    const records = batch.map(({ body }, i) => ({ messageId: `m${i}`, body: JSON.stringify(body), attributes: {} }))
    const result = await worker?.({ Records: records })
    const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    return records.map(({ messageId }) => !failed.has(messageId))
  }

  /** Delivers one message to its worker. @returns true if it was handled */
  const deliver = async (message: QueuedMessage): Promise<boolean> => (await deliverBatch([message])).every(Boolean)

  /** Relays the outbox and handles every due message, until nothing is left. */
  const drain = async (): Promise<void> => {
    for (let round = 0; round < 200; round++) {
      const events = outbox.splice(0)
      if (events.length > 0) await deps.bus.put(events)
      const due = messages.filter((message) => message.dueAt <= clock.now())
      if (due.length === 0 && events.length === 0) return
      for (const message of due) messages.splice(messages.indexOf(message), 1)
      await Promise.all(
        batchesOf(due).map(async (batch) => {
          // Failed messages go to the end.
          for (const [i, ok] of (await deliverBatch(batch)).entries()) if (!ok) messages.push(batch[i] as QueuedMessage)
        }),
      )
    }
    throw new Error('the platform does not come to rest')
  }

  /** Runs the overdue sweep once. */
  const sweep = async (): Promise<void> => {
    for (const [name, workers] of Object.entries(workerFunctions)) {
      for (const worker of workers) {
        if (worker.source.kind === 'schedule') await runWorker(worker, () => depsOf(name))({})
      }
    }
  }

  /** Leaves an entry in the audit’s intake, as if the stream lost it. */
  const loseAuditEntry = (entry: NewAuditEntry): Promise<void> => {
    lost.add(entry.id)
    return recorder.transact([AuditIntakeEntity.create(entry)])
  }

  return {
    call,
    loseAuditEntry,
    drain,
    sweep,
    deliver,
    deliverBatch,
    deps,
    clock,
    store,
    tableName,
    auditTableName,
    logs,
    objects,
    /** Events that the relay gets. */
    outbox,
    /** All events, with those that their makers carry. */
    emitted,
    mails,
    messages,
    /** Pieces of streams, at the moment at which they are sent. */
    streamed,
    settings,
    stop: () => store.stop(),
  }
}

export type TestPlatform = Awaited<ReturnType<typeof startPlatform>>

/** Groups messages by queue, into batches of at most the queue's size. */
const batchesOf = (due: readonly QueuedMessage[]): QueuedMessage[][] =>
  QUEUE_NAMES.flatMap((queue) => {
    const own = due.filter((message) => message.queue === queue)
    const size = QUEUES[queue].batchSize
    return Array.from({ length: Math.ceil(own.length / size) }, (_, i) => own.slice(i * size, (i + 1) * size))
  })

/** Removes the seconds between tries to connect, but not the tries. */
const atOnce = (http: OutgoingHttp): OutgoingHttp => ({
  ...http,
  send: ({ connectRetryPausesMs = [], ...request }) =>
    http.send({ ...request, connectRetryPausesMs: connectRetryPausesMs.map(() => 1) }),
})

const sendsNothing = (): never => {
  throw new Error('this function does not declare the capability outgoing')
}

const itemsPut = (input: unknown): Record<string, unknown>[] => {
  const { Item, TransactItems } = input as Partial<PutCommand['input'] & TransactWriteCommand['input']>
  if (Item) return [Item]
  return (TransactItems ?? []).flatMap((one) => (one.Put?.Item ? [one.Put.Item] : []))
}

/** Finds the group with the longest matching path, as the gateway's routes do. */
const pipelineFor = (
  pipelines: [readonly { path: string; method: string; waits?: true }[], RequestHandler][],
  method: string,
  path: string,
): RequestHandler => {
  const matches = pipelines.find(([endpoints]) =>
    endpoints.some((endpoint) => endpoint.method === method && fits(endpoint.path, path)),
  )
  const byPath = matches ?? pipelines.find(([endpoints]) => endpoints.some((endpoint) => fits(endpoint.path, path)))
  const longestPrefix = () =>
    pipelines
      .map(([endpoints, handler]) => ({
        length: sharedPrefix(
          endpoints.map((endpoint) => endpoint.path),
          path,
        ),
        handler,
      }))
      .sort((a, b) => b.length - a.length)[0]
  const found = byPath?.[1] ?? longestPrefix()?.handler
  if (!found) throw new Error('no group')
  return found
}

const patterns = new Map<string, { start: string; whole: RegExp }>()

/** Returns true if a path fits a template. Most differ at their start, which takes less than a pattern to see. */
const fits = (template: string, path: string): boolean => {
  let known = patterns.get(template)
  if (!known) {
    const [start = ''] = template.split('{')
    const whole = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`)
    known = { start, whole }
    patterns.set(template, known)
  }
  return path.startsWith(known.start) && known.whole.test(path)
}

const sharedPrefix = (paths: string[], path: string): number =>
  Math.max(
    0,
    ...paths.map((one) => {
      let n = 0
      while (n < one.length && one[n] === path[n]) n++
      return n
    }),
  )

const everyEndpoint = Object.values(requestFunctions).flat()

/** Finds the endpoint that answers a request. A path without parameters hides those with them, whatever the method. */
const endpointAt = (method: string, path: string): Endpoint | undefined => {
  const matching = everyEndpoint.filter((one) => fits(one.path, path))
  const literal = matching.filter((one) => !one.path.includes('{'))
  return (literal.length > 0 ? literal : matching).find((one) => one.method === method)
}

const noPublicKeys = (name: string): Keys['publicKeys'] => {
  const refuse = async () => {
    throw new Error(`${name} may not read public keys`)
  }
  return { find: refuse }
}
