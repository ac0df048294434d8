import path from 'node:path'
import { ROOT } from '#local/prepare.ts'
import { readNumber } from '#shared/work/approval-rules/read-number.ts'
import { callOf, type Sent } from './requests.ts'

/** Every value that a receiver can read from a request, by receiver. Only missing values are left out. */
export type Read = Record<string, unknown[]>

export type Recorded = Sent & { read: Read }

/** Requests with what Flask, FastAPI and Go read of them. `RECORD=1 npm run test:generators` records them. */
export const VECTORS = path.join(ROOT, 'test/vectors/readings.jsonl')

/**
 * Returns how a rule's reading contradicts what receivers read of the same request; undefined if it doesn't. A rule reads
 * nothing, or the number that each receiver reads, whichever way it takes.
 */
export const contradiction = (sent: Sent, read: Read): object | undefined => {
  const { value } = readNumber(callOf(sent), sent.field)
  if (value === undefined) return undefined
  const isSame = (one: unknown): boolean =>
    (typeof one === 'number' || (typeof one === 'string' && one.trim() === one && one !== '')) && Number(one) === value
  const agrees = Object.values(read).every((values) => values.length > 0 && values.every(isSame))
  return agrees ? undefined : { sent, rule: value, read }
}
