import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyResult, Context } from 'aws-lambda'
import { requestFunctions } from '#functions/registry.ts'
import type { RequestHandler } from '#shared/http/exchange.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { Table as StoreTable } from '#shared/table/table.ts'
import { everyAuthenticator } from '#testkit/authenticators.ts'
import { type BareRequest, bareHandler } from './cpu/bare.ts'
import { copyTable } from './cpu/copy-table.ts'
import { Recorder, scriptOf } from './cpu/recorder.ts'
import { BLOCK, type Subject, type SubjectDefinition, subjects } from './cpu/subjects.ts'
import { nameOf } from './endpoints/scenario.ts'
import { type Stage, startStage } from './endpoints/stage.ts'
import { fixed, type Table } from './report/table.ts'
import { median } from './statistics.ts'

/** Limit of the CPU of a request through the pipeline, relative to a bare handler. */
const CPU_LIMIT = 1.5

export interface CpuUse {
  name: string
  /** Microseconds of CPU per request, one value per round. */
  real: number[]
  bare: number[]
  atMostMs?: number | undefined
}

export interface CpuOptions {
  /** Rounds of {@link BLOCKS} blocks of each side. */
  rounds?: number
  /** Measures only subjects whose name contains this. */
  only?: string
}

const BLOCKS = 4
const WARM_UP_BLOCKS = 12
/** Pause between requests, so that no rate limit applies. */
const PAUSE_MS = 1_000

/** Measures the CPU of this process per request of a block, in microseconds. */
const cpuOf = async (requests: number, work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

const handlerOf = (stage: Stage, endpoint: string): RequestHandler | undefined => {
  const group = Object.values(requestFunctions).find((endpoints) =>
    endpoints.some(({ method, path }) => `${method} ${path}` === endpoint),
  )
  return group && createPipeline(group, everyAuthenticator, async () => stage.platform.deps)
}

/** Measures one kind of request, in turns through the pipeline and with a bare handler. */
const measure = async (stage: Stage, definition: SubjectDefinition, rounds: number): Promise<CpuUse | undefined> => {
  const handler = handlerOf(stage, definition.endpoint)
  if (!handler) return undefined
  const { platform } = stage
  const { store, tableName } = platform
  const client = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  const subject = await definition.prepare(stage)
  platform.clock.advance(PAUSE_MS * 20)
  const copy = await store.createTable()
  await copyTable(store.client, tableName, copy)
  // As deployed. Only tests and the local run check every write against its schema.
  const checking = platform.deps.table
  platform.deps.table = new StoreTable({ client, tableName, shards: 2 })
  const recorder = recorderOf(stage)
  const turn = async (): Promise<{ cpu: number; recorded: BareRequest[] }> =>
    realBlock(stage, handler, subject, recorder, client, copy)
  const bare = (block: BareRequest[]): Promise<number> =>
    cpuOf(block.length, async () => {
      for (const request of block) await bareHandler(request)
    })
  const settle = async (block: BareRequest[]) => {
    await subject.after?.(
      block.map(({ answer }) => ({ body: JSON.stringify(answer) }) as APIGatewayProxyResult),
      client,
      [tableName, copy],
    )
    recorder.take()
    platform.outbox.length = 0
    platform.logs.length = 0
  }
  const use: CpuUse = { name: nameOf(definition), real: [], bare: [], atMostMs: definition.atMostMs }
  for (let i = 0; i < WARM_UP_BLOCKS; i++) {
    const { recorded } = await turn()
    await bare(recorded)
    await settle(recorded)
  }
  for (let round = 0; round < rounds; round++) {
    let [real, without] = [0, 0]
    for (let i = 0; i < BLOCKS; i++) {
      const { cpu, recorded } = await turn()
      real += cpu / BLOCKS
      without += (await bare(recorded)) / BLOCKS
      await settle(recorded)
    }
    use.real.push(real)
    use.bare.push(without)
  }
  platform.deps.table = checking
  return use
}

const recorders = new WeakMap<Stage, Recorder>()
const recorderOf = (stage: Stage): Recorder => {
  const known = recorders.get(stage) ?? new Recorder(stage.platform.store.client.middlewareStack)
  recorders.set(stage, known)
  known.take()
  return known
}

const realBlock = async (
  { platform }: Stage,
  handler: RequestHandler,
  subject: Subject,
  recorder: Recorder,
  client: DynamoDBDocumentClient,
  copy: string,
): Promise<{ cpu: number; recorded: BareRequest[] }> => {
  const events = subject.events()
  const results: APIGatewayProxyResult[] = []
  const commands: ReturnType<Recorder['take']>[] = []
  const cpu = await cpuOf(BLOCK, async () => {
    for (const event of events) {
      platform.clock.advance(PAUSE_MS)
      results.push(await handler(event, {} as Context))
      commands.push(recorder.take())
    }
  })
  const recorded = events.map((event, i): BareRequest => {
    const { statusCode, body } = results[i] as APIGatewayProxyResult
    if (statusCode >= 400) throw new Error(`${event.httpMethod} ${event.path} answered ${statusCode}: ${body}`)
    return { event, script: scriptOf(commands[i] ?? [], client, copy), answer: JSON.parse(body) }
  })
  return { cpu, recorded }
}

/** Measures the warm CPU of the most important requests, with and without the pipeline. */
export const measureCpu = async ({ rounds = 8, only = '' }: CpuOptions = {}): Promise<CpuUse[]> => {
  const stage = await startStage()
  try {
    const uses: CpuUse[] = []
    for (const definition of subjects.filter((one) => nameOf(one).includes(only))) {
      const use = await measure(stage, definition, rounds)
      if (use) uses.push(use)
    }
    return uses
  } finally {
    await stage.close()
  }
}

const ratioOf = (real: readonly number[], bare: readonly number[]): number =>
  median(real.map((value, i) => value / (bare[i] ?? Number.NaN)))

const isKept = ({ real, bare, atMostMs }: CpuUse): boolean =>
  atMostMs === undefined ? ratioOf(real, bare) <= CPU_LIMIT : median(real) <= atMostMs * 1_000

/** Builds the table of the measurements. */
export const cpuTables = (uses: readonly CpuUse[]): Table[] => [
  {
    title: 'Warm CPU of a request',
    columns: ['request', 'pipeline µs', 'bare µs', 'ratio', `at most ${CPU_LIMIT}`],
    rows: uses.map((use) => [
      use.name,
      fixed(median(use.real), 0),
      fixed(median(use.bare), 0),
      fixed(ratioOf(use.real, use.bare), 2),
      `${isKept(use) ? 'kept' : 'OVER'}${use.atMostMs === undefined ? '' : `, ${use.atMostMs} ms`}`,
    ]),
    notes: [
      `CPU of the whole process, user and system, per request. Medians of ${uses[0]?.real.length ?? 0} rounds of ${BLOCKS * BLOCK} requests each way. Blocks of ${BLOCK} requests alternate, after ${WARM_UP_BLOCKS * BLOCK} requests to warm up.`,
      'Bare: the same SDK client sends the request’s commands to a copy of the table, between JSON.parse and JSON.stringify, without routing, tokens, checks or logs. Both make the same calls over the loopback interface.',
    ],
  },
]
