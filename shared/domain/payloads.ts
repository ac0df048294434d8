import type { StoredPayload } from '../entities/payload.ts'
import { fail } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'
import type { Deps } from './deps.ts'

/**
 * Keeps a JSON value: in the record up to 16 KiB, above that in the bucket, without the caller noticing (decisions §1).
 * @param place where in the bucket, such as `runs/run_…/input`
 * @param limit bytes of JSON text allowed
 * @throws `payload_too_large` above the limit
 */
export const storePayload = async (
  { objects }: Pick<Deps, 'objects'>,
  place: string,
  value: unknown,
  limit: number = LIMITS.runPayloadBytes,
): Promise<StoredPayload> => {
  const { json, bytes } = textOf(value, limit)
  if (bytes <= LIMITS.inlinePayloadBytes) return { json }
  const object = `payloads/${place}`
  await objects.put(object, Buffer.from(json), 'application/json')
  return { object, bytes }
}

/** @throws `payload_too_large` above the limit */
export const textOf = (value: unknown, limit: number): { json: string; bytes: number } => {
  const json = JSON.stringify(value)
  const bytes = Buffer.byteLength(json)
  if (bytes > limit) throw fail('payload_too_large', { message: `The value has ${bytes} bytes; at most ${limit}.` })
  return { json, bytes }
}

/** Reads what {@link storePayload} kept. */
export const loadPayload = async ({ objects }: Pick<Deps, 'objects'>, stored: StoredPayload): Promise<unknown> => {
  if ('json' in stored) return JSON.parse(stored.json)
  const bytes = await objects.get(stored.object)
  return bytes === undefined ? null : JSON.parse(new TextDecoder().decode(bytes))
}
