import { setTimeout as pause } from 'node:timers/promises'
import { handleDueSchedule, ScheduleEntity } from '#shared/agents/schedules/index.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { AMOUNTS, type Consumption, type ItemWrite } from './meter.ts'
import type { Installed, Stage } from './stage.ts'

type Message = TestPlatform['messages'][number]

const eventOf = ({ body }: Message): string => {
  const { event, ...message } = body as { event?: { type: string }; 'detail-type'?: string }
  return event?.type ?? message['detail-type'] ?? ''
}

/** Returns a message's name in the tables: its queue, and its event if the queue takes several. */
const nameOf = (message: Message): string => [message.queue, eventOf(message)].filter(Boolean).join(': ')

/** Takes a message that is due. Earlier requests may have left others, which their workers would only send on. */
const takeDue = ({ messages, clock }: TestPlatform): Message | undefined => {
  const place = messages.findIndex(({ dueAt }) => dueAt <= clock.now())
  return place < 0 ? undefined : messages.splice(place, 1)[0]
}

/** Writes of one step of a run: of the request, or of a message. */
export interface StepWrites {
  step: string
  writes: readonly ItemWrite[]
}

/** Every write of one run without a subscription, of one that its request waits for, and of one whose events a webhook gets. */
export type Traces = Record<'alone' | 'waited' | 'subscribed', StepWrites[]>

interface MessagesOfRun {
  request: Consumption
  messages: [name: string, consumption: Consumption][]
  /** Writes in their order, beginning with those of the request. */
  trace: StepWrites[]
}

/** Measures every message behind one run, from its start to the last delivery. Several of a kind are averaged. */
const messagesOfRun = async (
  { platform, meter, call, finishedRuns }: Stage,
  app: Installed,
  path = '/api/v1/runs',
): Promise<MessagesOfRun> => {
  // The first run creates records that later ones only change, such as the feed's head.
  await finishedRuns(app, 1)
  platform.clock.advance(REST_MS)
  const start = () => call('POST', path, { token: app.token, body: { input: { name: 'Ada' }, trigger: 'bench' } })
  const trace: StepWrites[] = []
  const found = new Map<string, Consumption[]>()
  const measured = async (message: Message): Promise<StepWrites> => {
    const { consumption, writes } = await meter.during(() => platform.deliver(message))
    found.set(nameOf(message), [...(found.get(nameOf(message)) ?? []), consumption])
    return { step: nameOf(message), writes }
  }
  const meanwhile: StepWrites[] = []
  const { http } = platform.deps
  const { send } = http
  // The agent takes longer than a receiver, as the costs assume: webhooks get the run's start while it works.
  http.send = async (request) => {
    if (request.url.endsWith(HOOK)) return send(request)
    await pause(ANNOUNCED_WITHIN)
    for (const message of platform.messages.filter(
      ({ queue, dueAt }) => queue === 'delivery' && dueAt <= platform.clock.now(),
    )) {
      platform.messages.splice(platform.messages.indexOf(message), 1)
      meanwhile.push(await measured(message))
    }
    return send(request)
  }
  try {
    const { consumption: request, writes } = await meter.during(start)
    trace.push({ step: `POST ${path}`, writes })
    for (;;) {
      await platform.deps.bus.put(platform.outbox.splice(0))
      const next = takeDue(platform)
      if (!next) return { request, messages: [...found].map(([name, all]) => [name, mean(all)]), trace }
      trace.push(await measured(next), ...meanwhile.splice(0))
    }
  } finally {
    http.send = send
  }
}

/** Path of the measured webhook at the agent's server. */
const HOOK = '/hook'

/** Time in ms in which the event of a new run gets into the feed and to the queue of deliveries. */
const ANNOUNCED_WITHIN = 100

/** Names a request, or a message, of a run that its request waits for. */
export const WAITED = ', waited for'

/** Batch of the statistics queue under load: numbers of runs that ended, each counted with its start, and of agents. */
export const BATCH = { name: 'statistics: 100 ended runs in one batch', ended: 100, agents: 20 } as const

/** Measures a batch of the statistics queue. Each agent belongs to a separate app and workspace, the most expensive case. */
const statisticsBatch = async (stage: Stage): Promise<Consumption> => {
  const { platform, meter, call, install } = stage
  const agents: Installed[] = []
  for (let i = 0; i < BATCH.agents; i++) agents.push(await install())
  const agent = (i: number) => agents[i % BATCH.agents] as Installed
  /** Messages for the statistics, held back while the other workers run. */
  const held: Message[] = []
  const hold = async () => {
    for (;;) {
      await platform.deps.bus.put(platform.outbox.splice(0))
      const next = takeDue(platform)
      if (!next) break
      if (next.queue === 'statistics') held.push(next)
      else await platform.deliver(next)
    }
    platform.clock.advance(2_000)
  }
  const [first] = agents
  if (first) await stage.finishedRuns(first, 1)
  for (let i = 0; i < BATCH.ended; i++) {
    await call('POST', '/api/v1/runs', { token: agent(i).token, body: { input: { name: 'Ada' }, trigger: 'bench' } })
    await hold()
  }
  const { consumption, result } = await meter.during(() => platform.deliverBatch(held))
  if (result.length !== BATCH.ended || result.includes(false)) throw new Error('the batch was not counted')
  return consumption
}

/** Name of what starts the run of a schedule, after which its messages are those of any run. */
export const OCCURRENCE = 'sweeper: a schedule falls due'

/** Measures how a schedule that falls due starts its run, a second time. */
const occurrence = async (stage: Stage): Promise<Consumption> => {
  const { platform, meter, call, install } = stage
  const { token, workspaceId: workspace_id } = await install()
  const schedule = { name: 'Bench', start: { input: { name: 'Ada' } }, when: { every: 'PT1H' } }
  const { body } = await call('POST', '/api/v1/schedules', { token, body: schedule })
  const fallDue = () =>
    handleDueSchedule(createWorkerWork(platform.deps), ScheduleEntity.key({ workspace_id, id: body.id }))
  platform.clock.advance(HOUR)
  await fallDue()
  await platform.drain()
  platform.clock.advance(HOUR)
  const { consumption } = await meter.during(fallDue)
  await platform.drain()
  return consumption
}

/** Measures the messages behind a run, of an installation without a webhook, and the differences with one. */
export const measureWorkers = async (
  stage: Stage,
): Promise<{ workers: { name: string; consumption: Consumption }[]; traces: Traces; longRun: RunPart[] }> => {
  // Requests measured before may have left messages that become due later, such as those of A2A clients that are notified.
  stage.platform.messages.splice(0)
  stage.platform.outbox.splice(0)
  const [silent, subscribed] = [await stage.install(), await stage.install()]
  const body = { url: `${stage.agent.url}${HOOK}`, events: ['run.*'] }
  await stage.call('POST', '/api/v1/webhooks', { token: subscribed.token, body })
  const { messages: without, trace: alone } = await messagesOfRun(stage, silent)
  const { request, messages: waited, trace: inPlace } = await messagesOfRun(stage, silent, '/api/v1/runs?wait=30')
  const { messages: withOne, trace: withHook } = await messagesOfRun(stage, subscribed)
  const workers = [
    ...without.map(([name, consumption]) => ({ name, consumption })),
    ...[['POST /api/v1/runs', request] as const, ...waited].map(([name, consumption]) => ({
      name: `${name}${WAITED}`,
      consumption,
    })),
    { name: BATCH.name, consumption: await statisticsBatch(stage) },
    { name: OCCURRENCE, consumption: await occurrence(stage) },
    ...withOne.map(([name, consumption]) => ({
      name: name === 'delivery' ? name : `${name}, one subscription`,
      consumption,
    })),
  ]
  const traces = { alone: inOrder(alone), waited: inOrder(inPlace), subscribed: inOrder(withHook) }
  return { workers, traces, longRun: await longRun(stage) }
}

/** Sorts the writes of each step. Those made at the same time come in any order. */
const inOrder = (steps: readonly StepWrites[]): StepWrites[] => {
  const nameOf = ({ transactional, entity, operation }: ItemWrite) => `${transactional} ${entity} ${operation}`
  return steps.map(({ step, writes }) => ({
    step,
    writes: writes.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)) || a.indexUnits - b.indexUnits),
  }))
}

/**
 * Part of a longer run: a request, a message of a queue, or an event that the relay publishes. Bytes out are those of the
 * request's answer, or of the calls to the agent that a message causes.
 */
export type RunPart =
  | { kind: 'request'; consumption: Consumption; bytesOut: number }
  | { kind: 'message'; queue: QueueName; consumption: Consumption; calls: number; bytesOut: number }
  | { kind: 'event' }

/** Bytes of headers, as they are sent. */
const headerBytes = (headers: object): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + Buffer.byteLength(`${name}: ${value}\r\n`), 0)

/** Bytes of the status line and of what API Gateway adds: date, content-length, connection, and three ids. */
const GATEWAY_BYTES = 300

/** Measures a run whose agent answers 202, reports three steps, calls a tool and completes the run. */
const longRun = async ({ platform, meter, call, install, agent }: Stage): Promise<RunPart[]> => {
  const app = await install({ endpoint: `${agent.url}/slow` })
  const parts: RunPart[] = []
  let bearer = app.token
  const send = async (path: string, body: object) => {
    platform.clock.advance(REST_MS)
    const { consumption, result } = await meter.during(() => call('POST', path, { token: bearer, body }))
    const bytesOut = GATEWAY_BYTES + headerBytes(result.headers) + Buffer.byteLength(result.text)
    parts.push({ kind: 'request', consumption, bytesOut })
    for (;;) {
      const events = platform.outbox.splice(0)
      parts.push(...events.map(() => ({ kind: 'event' as const })))
      await platform.deps.bus.put(events)
      const next = takeDue(platform)
      if (!next) return result.body
      const before = agent.requests.length
      const { consumption } = await meter.during(() => platform.deliver(next))
      const calls = agent.requests.slice(before)
      const bytesOut = calls.reduce((sum, { headers, body }) => sum + headerBytes(headers) + body.length, 0)
      parts.push({ kind: 'message', queue: next.queue, consumption, calls: calls.length, bytesOut })
    }
  }
  // The first run creates records that later ones only change.
  for (const isMeasured of [false, true]) {
    bearer = app.token
    if (isMeasured) parts.length = 0
    const { id } = await send('/api/v1/runs', { input: { name: 'Ada' }, trigger: 'bench' })
    bearer = await callbackToken(platform.deps, app, id)
    for (const text of ['Reading.', 'Thinking.', 'Writing.'])
      await send(`/api/v1/runs/${id}/steps`, { steps: [{ type: 'message', output: { text } }] })
    await send('/api/v1/tools/list_runs/invoke', { arguments: {} })
    await send(`/api/v1/runs/${id}/complete`, { status: 'succeeded', output: { text: 'Hello, Ada!' } })
  }
  return parts
}

/** Pause between requests, which refills every rate limit. */
const REST_MS = 30_000

const mean = (all: readonly Consumption[]): Consumption => {
  const of = (field: keyof Consumption): number => all.reduce((sum, one) => sum + one[field], 0) / all.length
  const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, of(name)])) as Pick<
    Consumption,
    (typeof AMOUNTS)[number]
  >
  return { calls: of('calls'), roundTrips: of('roundTrips'), ...amounts }
}
