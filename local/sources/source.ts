import type { StateStore } from '../aws/database.ts'
import type { Sqs } from '../aws/sqs.ts'
import type { Disk } from '../disk.ts'
import type { DynamodbServer, Tables } from '../dynamodb.ts'
import type { Functions, InvokeResult } from '../functions.ts'
import type { Jumps } from '../jumps.ts'
import type { LocalModel } from '../template/model.ts'

/** A source that wakes functions by itself: a stream, a queue, a schedule. */
export interface Source {
  /** Short name of the function it wakes. */
  functionName: string
  /** Accepts nothing new until `resume`. Running invocations continue. */
  pause(): void
  resume(): void
  /** Fires a schedule now, whatever the time. */
  fire?(): Promise<void>
  stop(): Promise<void>
}

/** Failures that a `ReportBatchItemFailures` function reports, or `all` for an invalid result. */
export type Failures = 'all' | Set<string>

/**
 * Reads a batch result as Lambda does. No result, an empty object or an empty list means that all succeeded. An unknown
 * or empty identifier, or a value that isn't a list, means that all failed.
 *
 * @param known the identifiers of the batch
 */
export const failuresOf = (result: InvokeResult, reports: boolean, known: Iterable<string>): Failures => {
  if (result.kind === 'error') return 'all'
  if (!reports || result.kind !== 'value' || result.value === null || result.value === '') return new Set()
  const { batchItemFailures } = result.value as { batchItemFailures?: { itemIdentifier?: unknown }[] | null }
  if (batchItemFailures === undefined || batchItemFailures === null) return new Set()
  if (!Array.isArray(batchItemFailures)) return 'all'
  const ids = new Set(known)
  const failed = new Set<string>()
  for (const item of batchItemFailures) {
    const id = item?.itemIdentifier
    if (typeof id !== 'string' || !ids.has(id)) return 'all'
    failed.add(id)
  }
  return failed
}

/** The parts of the local run that sources need. */
export interface SourcesDeps {
  model: LocalModel
  dynamodb: DynamodbServer
  tables: Tables
  functions: Functions
  sqs: Sqs
  state: StateStore
  disk: Pick<Disk, 'isFull' | 'writable'>
  jumps: Pick<Jumps, 'calm'>
  onError: (error: unknown) => void
}
