import type { InvokeResult } from '../functions.ts'

/** Something that wakes functions by itself: a stream, a queue, a schedule. */
export interface Source {
  /** Short name of the function it wakes. */
  functionName: string
  /** Takes nothing new until `resume`; what runs goes on. */
  pause(): void
  resume(): void
  /** Schedules only: fires now, whatever the time. */
  fire?(): Promise<void>
  stop(): Promise<void>
}

/** The failures that a `ReportBatchItemFailures` function tells, or `all` when the answer makes no sense. */
export type Failures = 'all' | Set<string>

/**
 * Reads a batch result as Lambda does: no answer, an empty object or an empty list is success of all; an unknown or empty
 * identifier, or a list that is none, is failure of all.
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
