import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Deps } from '../work/work.ts'
import type { StoredPayload } from './payload.ts'

/**
 * Stores a JSON value in the record up to 16 KiB, and in the bucket above that (contract/general.md#sizes).
 * @param place path in the bucket, such as `runs/run_…/input`
 * @param limit bytes of JSON text allowed
 * @throws `payload_too_large` above the limit
 */
export const storePayload = async (
  { objects }: Pick<Deps, 'objects'>,
  place: string,
  value: unknown,
  limit: number = LIMITS.runPayloadBytes,
): Promise<StoredPayload> => {
  const { json, bytes } = serializePayload(value, limit)
  if (bytes <= LIMITS.inlinePayloadBytes) return { json }
  const object = `payloads/${place}`
  await objects.put(object, Buffer.from(json), 'application/json')
  return { object, bytes }
}

/** Serializes a value as JSON text. @throws `payload_too_large` above the limit */
export const serializePayload = (value: unknown, limit: number): { json: string; bytes: number } => {
  const json = JSON.stringify(value)
  const bytes = Buffer.byteLength(json)
  if (bytes > limit)
    throw fail('payload_too_large', { message: `The value has ${bytes} bytes. The limit is ${limit}.` })
  return { json, bytes }
}

/** Loads a value that {@link storePayload} stored. Returns null if its object was deleted. */
export const loadPayload = async ({ objects }: Pick<Deps, 'objects'>, stored: StoredPayload): Promise<unknown> => {
  if ('json' in stored) return JSON.parse(stored.json)
  const bytes = await objects.get(stored.object)
  return bytes === undefined ? null : JSON.parse(new TextDecoder().decode(bytes))
}
