import type { StoredPayload } from '../entities/payload.ts'
import type { Page } from '../table/table.ts'

/**
 * Bytes of callers' own values in one answer. A function may answer with 6 MB, and its answer holds the body as JSON text
 * in JSON, where every quote and backslash doubles.
 */
export const ANSWER_BYTES = 2.75 * 1_024 * 1_024

/** Bytes of a kept value's JSON text. */
export const payloadBytes = (stored: StoredPayload | undefined): number =>
  stored === undefined ? 0 : 'json' in stored ? Buffer.byteLength(stored.json) : stored.bytes

/** Bytes of a text's JSON: a control character takes six. */
export const textBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text))

/**
 * Ends a page early where its records would not fit into one answer; the next page goes on there. A page has at least
 * one record.
 * @param sortOf the sort value of a record in its list
 */
export const fittingPage = <T>(page: Page<T>, bytesOf: (item: T) => number, sortOf: (item: T) => string): Page<T> => {
  let bytes = 0
  const end = page.items.findIndex((item) => {
    bytes += bytesOf(item)
    return bytes > ANSWER_BYTES
  })
  if (end < 0) return page
  const items = page.items.slice(0, Math.max(1, end))
  const last = items.at(-1)
  return { items, next: last && sortOf(last) }
}
