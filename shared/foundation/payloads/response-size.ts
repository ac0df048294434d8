import type { Page } from '#shared/table/table.ts'
import type { StoredPayload } from './payload.ts'

/**
 * Most bytes of stored values in one response. A function may return 6 MB, and Lambda embeds the body as a JSON string,
 * in which every quote and backslash doubles.
 */
export const RESPONSE_BYTES = 2.75 * 1_024 * 1_024

/** Returns the bytes of a stored value's JSON text. */
export const payloadBytes = (stored: StoredPayload | undefined): number =>
  stored === undefined ? 0 : 'json' in stored ? Buffer.byteLength(stored.json) : stored.bytes

/** Returns the bytes of a string as JSON, where a control character takes six. */
export const textBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text))

/**
 * Cuts a page to the records that fit into one response. The next page continues from there. A page keeps at least one
 * record.
 * @param sortOf returns the sort value of a record in its list
 */
export const cutPageToResponseSize = <T>(
  page: Page<T>,
  bytesOf: (item: T) => number,
  sortOf: (item: T) => string,
): Page<T> => {
  let bytes = 0
  const end = page.items.findIndex((item) => {
    bytes += bytesOf(item)
    return bytes > RESPONSE_BYTES
  })
  if (end < 0) return page
  const items = page.items.slice(0, Math.max(1, end))
  const last = items.at(-1)
  return { items, next: last && sortOf(last) }
}
