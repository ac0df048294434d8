import { compilePattern } from '../aws/pattern.ts'
import type { Disk } from '../disk.ts'
import type { Functions, InvokeResult } from '../functions.ts'
import type { StreamSourceModel } from '../template/model.ts'
import { REGION } from '../template/physical.ts'
import { failuresOf } from './source.ts'

/** A stream record, in the format of the wire and of Lambda events. */
export interface StreamRecord {
  eventID: string
  eventName: string
  dynamodb: { SequenceNumber: string; ApproximateCreationDateTime?: number; NewImage?: unknown; [key: string]: unknown }
  [key: string]: unknown
}

/** Dependencies of batch processing. */
export interface BatchContext {
  model: StreamSourceModel
  functions: Functions
  /** Waits before a retry. */
  pause: (ms: number) => Promise<void>
  disk: Pick<Disk, 'isFull' | 'writable'>
  stopped: () => boolean
  /** Records that everything up to and including this record is done. */
  checkpoint: (record: StreamRecord) => void
  /** Sends a failed batch to the on-failure destination. */
  giveUp: (records: StreamRecord[], result: InvokeResult, invokeCount: number) => void
}

const MAX_BACKOFF_MS = 5_000

const sequenceOf = (record: StreamRecord) => record.dynamodb.SequenceNumber

/** Returns the index of the first failed record, or `undefined` if none failed. */
const firstFailure = (model: StreamSourceModel, records: StreamRecord[], result: InvokeResult): number | undefined => {
  const failures = failuresOf(result, model.reportItemFailures, records.map(sequenceOf))
  if (failures === 'all') return 0
  const at = records.findIndex((record) => failures.has(sequenceOf(record)))
  return at < 0 ? undefined : at
}

/**
 * Processes one batch with Lambda's semantics for streams. Records before the first failure are done. The rest is
 * retried, in halves if the mapping bisects, until the attempts are used up and the on-failure destination gets it.
 */
export const processBatch = async (context: BatchContext, batch: StreamRecord[]): Promise<void> => {
  const { model } = context
  let records = batch
  let attempt = 0
  while (!context.stopped()) {
    const result = await context.functions.invoke(model.functionArn, { Records: records })
    attempt += 1
    if (context.stopped() && result.kind === 'error') return
    const failed = firstFailure(model, records, result)
    const last = records[(failed ?? records.length) - 1]
    if (last) context.checkpoint(last)
    if (failed === undefined) return
    if (failed > 0) {
      records = records.slice(failed)
      attempt = 0
      continue
    }
    if (context.disk.isFull) {
      // The function couldn't write. That says nothing about the records.
      attempt -= 1
      await context.disk.writable()
      continue
    }
    await context.pause(Math.min(100 * 2 ** Math.min(attempt, 10), MAX_BACKOFF_MS))
    if (model.bisect && records.length > 1) {
      const middle = Math.ceil(records.length / 2)
      await processBatch(context, records.slice(0, middle))
      await processBatch(context, records.slice(middle))
      return
    }
    if (model.maxRetries >= 0 && attempt > model.maxRetries) {
      context.giveUp(records, result, attempt)
      const end = records.at(-1)
      if (end) context.checkpoint(end)
      return
    }
  }
}

/** @returns a function that picks the records that pass the mapping's filters, as the function sees them */
export const recordSelector = (model: StreamSourceModel) => {
  const filters = model.filters.map((filter) => compilePattern(filter, `A filter of ${model.id}`))
  return (records: StreamRecord[], nowMs: number): StreamRecord[] =>
    records
      .map((record) => ({
        ...record,
        eventSource: 'aws:dynamodb',
        awsRegion: REGION,
        eventSourceARN: model.streamArn,
      }))
      .filter((record) => {
        const age = nowMs / 1_000 - (record.dynamodb.ApproximateCreationDateTime ?? nowMs / 1_000)
        if (model.maxAgeSeconds >= 0 && age > model.maxAgeSeconds) return false
        return filters.length === 0 || filters.some((matches) => matches(record))
      })
}
