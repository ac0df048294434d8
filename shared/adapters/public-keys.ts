import { createPublicKey, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import { type Clock, SECOND } from '../kernel/clock.ts'
import type { Keyring } from '../kernel/keyring.ts'
import { PUBLIC_KEYS_PREFIX, type PublicKeys, type SigningRing } from '../kernel/ports/keys.ts'
import type { ObjectStore } from '../kernel/ports/objects.ts'
import { cachedFetch } from './cached-fetch.ts'

/** Minimum time between searches for an unknown key, so that made-up ids cost next to nothing. */
export const LOOK_AGAIN = 30 * SECOND

const objectOf = (ring: SigningRing): string => `${PUBLIC_KEYS_PREFIX}/${ring}`

/** JWK Set (RFC 7517) whose key ids are those of the ring. */
const PublishedSet = () =>
  z.object({
    keys: z.array(
      z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string(), kid: z.string() }),
    ),
  })

const read = async (objects: Pick<ObjectStore, 'get'>, ring: SigningRing) => {
  const bytes = await objects.get(objectOf(ring))
  return bytes && PublishedSet().parse(JSON.parse(new TextDecoder().decode(bytes)))
}

/**
 * Publishes the public halves of a ring's keys, and of no others. Call it with a ring that has just been read: the set
 * then follows every rotation and retirement.
 */
export const publishKeys = async (
  objects: Pick<ObjectStore, 'get' | 'put'>,
  ring: SigningRing,
  { ids, signing }: Pick<Keyring, 'ids' | 'signing'>,
): Promise<void> => {
  const before = await read(objects, ring)
  const keys = ids.flatMap((kid) => {
    const { kty, crv, x, y } = signing(kid)?.jwk ?? {}
    return kty && crv && x && y ? [{ kty, crv, x, y, kid }] : []
  })
  if (before && JSON.stringify(before.keys) === JSON.stringify(keys)) return
  await objects.put(objectOf(ring), Buffer.from(JSON.stringify({ keys })), 'application/jwk-set+json')
}

/** Creates the reader of published keys, cached in memory for `fresh` ms. Keys that were added later are found. */
export const createPublicKeys = (objects: Pick<ObjectStore, 'get'>, clock: Clock, fresh: number): PublicKeys => {
  const sets = new Map<SigningRing, ReturnType<typeof reader>>()
  const reader = (ring: SigningRing) =>
    cachedFetch(clock, fresh, async () => {
      const set = await read(objects, ring)
      const keys = new Map<string, KeyObject>()
      for (const { kid, ...key } of set?.keys ?? []) keys.set(kid, createPublicKey({ key, format: 'jwk' }))
      return keys
    })
  const setOf = (ring: SigningRing) => {
    const known = sets.get(ring) ?? reader(ring)
    sets.set(ring, known)
    return known
  }
  return {
    find: async (ring, id) => (await setOf(ring)()).get(id) ?? (await setOf(ring)(LOOK_AGAIN)).get(id),
  }
}
