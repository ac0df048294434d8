import { createHmac, timingSafeEqual } from 'node:crypto'
import { fail } from './errors.ts'
import type { Keyring } from './keyring.ts'

const MAC_BYTES = 16

/**
 * Returns an opaque page cursor that holds a position. The position is authenticated together with the caller and the
 * query, so a cursor works only for the caller and query it came from (contract/general.md#pages).
 *
 * @param context the caller and the query as one string
 */
export const encodeCursor = (ring: Keyring, context: string, position: string): string => {
  const payload = `${ring.currentId}\n${position}`
  return Buffer.concat([mac(ring, ring.currentId, context, position), Buffer.from(payload)]).toString('base64url')
}

/**
 * Returns the position inside a cursor.
 *
 * @throws PlatformError `bad_request` for a cursor that was changed or belongs to another caller or query
 */
export const decodeCursor = (ring: Keyring, context: string, cursor: string): string => {
  const raw = Buffer.from(cursor, 'base64url')
  const payload = raw.subarray(MAC_BYTES).toString()
  const split = payload.indexOf('\n')
  const [id, position] = [payload.slice(0, split), payload.slice(split + 1)]
  // base64url can encode the last character in several ways. Only the canonical one is accepted.
  const known = raw.toString('base64url') === cursor && split > 0 && ring.bytes('cursor', id) !== undefined
  if (!known || !timingSafeEqual(mac(ring, id, context, position), raw.subarray(0, MAC_BYTES))) {
    throw fail('bad_request', {
      message: 'The cursor is not valid for this request.',
      fix: 'Send next_cursor exactly as it was returned, with the same filters and credential, or start without a cursor.',
    })
  }
  return position
}

const mac = (ring: Keyring, id: string, context: string, position: string): Buffer =>
  createHmac('sha256', ring.bytes('cursor', id) ?? new Uint8Array(32))
    .update(`${context}\n${position}`)
    .digest()
    .subarray(0, MAC_BYTES)
