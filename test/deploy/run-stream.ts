import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Further, runJourney } from '#examples/demo/journey.ts'
import { requestTo, signedRequests } from '#shared/adapters/signed-requests.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'

/** A stage whose table's stream can be read. */
interface StreamedStage {
  /** Address of DynamoDB and of its streams. */
  dynamodb: string
  /** Region and credentials, as the SDK reads them. */
  environment: Record<string, string | undefined>
}

interface StreamRecord {
  eventName: string
  dynamodb: { Keys: Image; NewImage?: Image }
}

type Image = Record<string, { S?: string; N?: string }>

/** Reads all records of a table's stream, those of each item in their order. */
const readStream = async ({ dynamodb, environment }: StreamedStage): Promise<StreamRecord[]> => {
  const { send } = signedRequests('dynamodb', environment, 30_000)
  // biome-ignore lint/suspicious/noExplicitAny: each operation has an answer of its own
  const ask = async (target: string, input: object): Promise<any> => {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }
    const { status, body } = await send(
      requestTo(new URL(dynamodb), { method: 'POST', headers, body: JSON.stringify(input) }),
    )
    const text = Buffer.from(body).toString()
    if (status !== 200) throw new Error(`${target} answered ${status}: ${text}`)
    return JSON.parse(text)
  }
  const streams = 'DynamoDBStreams_20120810'
  // The audit's table has none.
  const { Streams } = await ask(`${streams}.ListStreams`, {})
  const StreamArn = Streams[0].StreamArn
  const { StreamDescription } = await ask(`${streams}.DescribeStream`, { StreamArn })
  const records: StreamRecord[] = []
  for (const { ShardId } of StreamDescription.Shards) {
    const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }
    let iterator: string | undefined = (await ask(`${streams}.GetShardIterator`, from)).ShardIterator
    while (iterator !== undefined) {
      const page = await ask(`${streams}.GetRecords`, { ShardIterator: iterator, Limit: 1_000 })
      records.push(...page.Records)
      iterator = page.Records.length === 0 ? undefined : page.NextShardIterator
    }
  }
  return records
}

/** Replaces what differs from run to run: ids, hashes, days, times, shards and positions. */
const masked = (key: string): string =>
  key
    .replaceAll(/\b([a-z]{2,3})_[0-9a-hjkmnp-tv-z]{26}\b/g, '<$1>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}(T\d{2})?/g, '<time>')
    .replaceAll(/\b\d{2,}\b/g, '<n>')
    .replaceAll(/#\d\b/g, '#<n>')

const { partitionKey, sortKey, entity, indexes } = TABLE_LAYOUT

const text = (image: Image, name: string): string => image[name]?.S ?? image[name]?.N ?? ''

/** Returns where the record puts its item: its keys in the indexes. */
const placesOf = (image: Image): string =>
  Object.entries(indexes)
    .filter(([, index]) => image[index.partitionKey] !== undefined)
    .map(([name, index]) => ` ${name}=${masked(text(image, index.partitionKey))} ${masked(text(image, index.sortKey))}`)
    .join('')

/** Changes of the items of one run, in order. `item` names the entity and its key. */
export type RunStream = { item: string; changes: string[] }[]

/** Counters, which runs share. Whether a run creates one, and how many, depends on the time and on random shards. */
const SHARED = new Set(['agent-day', 'app-day', 'platform-hour'])

/** Items of a request, which don't name its run. */
const OF_REQUESTS = new Set(['bucket', 'kept-answer'])

interface Item {
  entity: string
  key: string
  records: StreamRecord[]
}

/** Groups records by item. */
const itemsOf = (records: readonly StreamRecord[]): Item[] => {
  const items = new Map<string, Item>()
  for (const record of records) {
    const { Keys, NewImage } = record.dynamodb
    const key = `${text(Keys, partitionKey)} ${text(Keys, sortKey)}`
    const known = items.get(key) ?? { entity: text(NewImage ?? {}, entity), key, records: [] }
    items.set(key, known)
    known.records.push(record)
  }
  return [...items.values()]
}

/**
 * Tells the changes of an item. One that repeats the one before it, in another batch or attempt, says nothing more, nor does one of an
 * event that stays due: whether a worker finds the work of another one half done depends on their speed.
 */
const historyOf = ({ entity, key, records }: Item): RunStream[number] => ({
  item: `${entity} ${masked(key)}`,
  changes: SHARED.has(entity)
    ? []
    : records
        .map(({ eventName, dynamodb: { NewImage } }) => ({ eventName, places: NewImage ? placesOf(NewImage) : '' }))
        .filter(({ eventName, places }, n, all) => {
          const before = all[n - 1]
          return places !== before?.places || (entity !== 'outbox' && eventName !== before.eventName)
        })
        .map(({ eventName, places }) => `${eventName}${places}`),
})

const ULID = /_([0-9a-hjkmnp-tv-z]{26})$/

/** Picks the items that name a run or one of its events, and those that all runs share. */
const historiesOf = (records: readonly StreamRecord[], runId: string): RunStream => {
  const items = itemsOf(records)
  // The event of the run's start and its request have the run's own letters.
  const names = [ULID.exec(runId)?.[1] ?? '']
  const isNamed = ({ records }: Item): boolean => names.some((name) => JSON.stringify(records).includes(name))
  for (const {
    records: [event],
  } of items.filter((item) => item.entity === 'outbox' && isNamed(item)))
    names.push(ULID.exec(event?.dynamodb.NewImage?.id?.S ?? '')?.[1] ?? names[0] ?? '')
  const histories = items
    .filter((item) => SHARED.has(item.entity) || OF_REQUESTS.has(item.entity) || isNamed(item))
    .map((item) => JSON.stringify(historyOf(item)))
  const shared = new Set(histories.filter((history) => history.endsWith('"changes":[]}')))
  return [...histories.filter((history) => !shared.has(history)), ...shared]
    .sort()
    .map((history) => JSON.parse(history))
}

/** Starts a run that its agent answers at once, and returns what it writes, once that is what is recorded or time is up. */
export const streamOf = async (stage: StreamedStage, call: Further): Promise<RunStream> => {
  const before = await readStream(stage)
  const { id } = await call('POST', '/api/v1/runs', { input: { name: 'Ada' } })
  const deadline = Date.now() + DEADLINE
  for (;;) {
    const stream = historiesOf((await readStream(stage)).slice(before.length), id)
    if (isDeepStrictEqual(stream, recordedStream()) || Date.now() > deadline) return stream
    await pause(500)
  }
}

/** Time for everything that follows a run. Counting it waits for other runs. */
const DEADLINE = 60_000

const RECORDED = new URL('run-stream.json', import.meta.url)

/** Returns the recorded list. */
export const recordedStream = (): RunStream => JSON.parse(readFileSync(RECORDED, 'utf8'))

/** Lets a customer's agent answer one more run at the end of the journey, and returns what that run wrote. */
export const streamOfRun = async (baseUrl: string, stage: StreamedStage): Promise<RunStream> => {
  let stream: RunStream = []
  const further = async (call: Further) => {
    stream = await streamOf(stage, call)
  }
  await runJourney({ baseUrl, adminKey: 'local-admin-key', further })
  return stream
}
