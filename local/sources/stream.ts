import { randomUUID } from 'node:crypto'
import type { StateStore } from '../aws/database.ts'
import type { Sqs } from '../aws/sqs.ts'
import type { Disk } from '../disk.ts'
import type { DynamodbCall } from '../dynamodb/client.ts'
import type { LookPast } from '../dynamodb/stream-records.ts'
import type { Functions, InvokeResult } from '../functions.ts'
import type { StreamSourceModel } from '../template/model.ts'
import { createAlarm, createGate } from './gate.ts'
import { createShardReader, PAGE } from './shards.ts'
import type { Source } from './source.ts'
import { processBatch, recordSelector, type StreamRecord } from './stream-batch.ts'

/** Dependencies of a stream source. */
export interface StreamSourceDeps {
  call: DynamodbCall
  /** The DynamoDB server's ARN of the stream. */
  streamArn: string
  /** Returns a number that grows with each record. Without it, the stream is polled. */
  lastRecord?: (() => number) | undefined
  /** Looks for records that pass the filters. Most don't, and reading them takes longer. Without it, all are read. */
  lookPast?: LookPast | undefined
  functions: Functions
  sqs: Sqs
  state: StateStore
  disk: Pick<Disk, 'isFull' | 'writable'>
  onError: (error: unknown) => void
}

/** Polling interval while functions run and shortly after, when writes are likely. Reading more often finds a record or two each time. */
const BUSY_MS = 15
const BUSY_FOR_MS = 1_000
/** Polling interval otherwise, when only an external client (a test, a console) writes. */
const IDLE_MS = 100
/**
 * Long, because new shards follow closed ones, which is noticed anyway. To describe a stream, dynoxide reads all
 * records.
 */
const REFRESH_SHARDS_MS = 10 * 60_000
/** Interval while the stream has no shard to read. */
const AWAIT_SHARDS_MS = 1_000

const failureNotice = (
  model: StreamSourceModel,
  shardId: string,
  records: StreamRecord[],
  result: InvokeResult,
  invokeCount: number,
) => {
  const at = (record: StreamRecord | undefined) =>
    new Date((record?.dynamodb.ApproximateCreationDateTime ?? 0) * 1_000).toISOString()
  return {
    requestContext: {
      requestId: randomUUID(),
      functionArn: model.functionArn,
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: invokeCount,
    },
    responseContext: {
      statusCode: 200,
      executedVersion: '$LATEST',
      functionError: result.kind === 'error' ? 'Unhandled' : undefined,
    },
    version: '1.0',
    timestamp: new Date().toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: records[0]?.dynamodb.SequenceNumber,
      endSequenceNumber: records.at(-1)?.dynamodb.SequenceNumber,
      approximateArrivalOfFirstRecord: at(records[0]),
      approximateArrivalOfLastRecord: at(records.at(-1)),
      batchSize: records.length,
      streamArn: model.streamArn,
    },
  }
}

/**
 * Polls a table's stream and passes the records that match the filters to the function, in order. The position is
 * stored, so that a restart continues from there.
 */
export const startStreamSource = (model: StreamSourceModel, deps: StreamSourceDeps): Source => {
  const { functions, sqs, state, disk } = deps
  const select = recordSelector(model)
  const gate = createGate()
  const alarm = createAlarm()
  const prefix = `stream/${model.id}/${deps.streamArn}/`
  const positions = {
    get: (shardId: string) => state.get(prefix + shardId),
    set: (shardId: string, position: string) => state.set(prefix + shardId, position),
  }
  const reader = createShardReader({ ...deps, positions, fromStart: model.fromStart })
  let stopped = false
  let activeUntil = 0
  let shards: string[] = []
  let refreshAt = 0
  /** The last record when the stream was read to its end. */
  let readTo: number | undefined

  const forget = functions.onActivity(() => {
    const wasIdle = Date.now() >= activeUntil
    activeUntil = Date.now() + BUSY_FOR_MS
    if (wasIdle) alarm.wake()
  })

  const process = async (shardId: string, records: StreamRecord[]) => {
    const selected = select(records, Date.now())
    for (let from = 0; from < selected.length; from += model.batchSize) {
      if (stopped) return
      await processBatch(
        {
          model,
          functions,
          pause: (ms) => alarm.sleep(ms),
          disk,
          stopped: () => stopped,
          checkpoint: (record) => positions.set(shardId, record.dynamodb.SequenceNumber),
          giveUp: (given, result, count) => {
            const notice = failureNotice(model, shardId, given, result, count)
            sqs.byArn(model.onFailureArn ?? '')?.send({ body: JSON.stringify(notice) })
          },
        },
        selected.slice(from, from + model.batchSize),
      )
    }
    const last = records.at(-1)
    if (last && !stopped) positions.set(shardId, last.dynamodb.SequenceNumber)
  }

  /** Skips what a shard has if none of it passes the filters. */
  const skips = (shardId: string): boolean => {
    const after = positions.get(shardId)
    if (after === undefined || after === 'done') return false
    const past = deps.lookPast?.({ streamArn: deps.streamArn, shardId, after }, model.filters)
    if (past !== undefined) reader.skipTo(shardId, past)
    return past !== undefined
  }

  /** Reads each shard once. @returns true if there is more to read at once */
  const cycle = async (): Promise<boolean> => {
    if (Date.now() >= refreshAt) {
      shards = await reader.open()
      refreshAt = Date.now() + (shards.length > 0 ? REFRESH_SHARDS_MS : AWAIT_SHARDS_MS)
      readTo = undefined
    }
    const last = deps.lastRecord?.()
    if (last !== undefined && last === readTo) return false
    let found = false
    let isMore = false
    for (const shardId of shards) {
      if (skips(shardId)) continue
      const records = await reader.read(shardId)
      if (records?.length !== 0) found = true
      if (records === undefined || records.length === PAGE) isMore = true
      if (records && records.length > 0) await process(shardId, records)
      if (positions.get(shardId) === 'done') refreshAt = 0
    }
    if (!found) readTo = last
    return isMore
  }

  const run = async () => {
    while (!stopped) {
      await gate.passed()
      await disk.writable()
      if (stopped) return
      try {
        if (await cycle()) continue
      } catch (error) {
        if (stopped) return
        deps.onError(error)
        reader.rewind()
        await alarm.sleep(1_000)
      }
      await alarm.sleep(functions.running > 0 || Date.now() < activeUntil ? BUSY_MS : IDLE_MS)
    }
  }
  const ended = run()

  return {
    functionName: functions.find(model.functionArn)?.name ?? model.functionArn,
    pause: gate.pause,
    resume: () => {
      gate.resume()
      alarm.wake()
    },
    stop: async () => {
      stopped = true
      forget()
      gate.resume()
      alarm.wake()
      await ended
    },
  }
}
