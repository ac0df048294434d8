import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { seal, unsealBytes } from '../kernel/encryption.ts'
import type { Keyring, SealingKeys } from '../kernel/keyring.ts'
import { DATA_KEYS_PREFIX, type Keys } from '../kernel/ports/keys.ts'
import type { ObjectStore } from '../kernel/ports/objects.ts'

/** Text that replaces a destroyed key, so that no late request creates another one. */
const DESTROYED = 'destroyed'

/** Number of keys in memory. */
const KNOWN_MAX = 1_000

const dataKeyObject = (workspaceId: string): string => `${DATA_KEYS_PREFIX}/${workspaceId}`

/** Record name that a workspace's key is sealed for. */
const dataKeyRecord = (workspaceId: string): string => `data-key:${workspaceId}`

export interface WorkspaceKeysOptions {
  /** The keys' own bucket, which has neither versions nor a backup. */
  objects: Pick<ObjectStore, 'get' | 'put' | 'create'>
  clock: Clock
  /** The ring that wraps the keys. */
  data: () => Promise<Keyring>
  /** Time in ms for which a key stays in memory. */
  fresh: number
}

/**
 * Creates the data keys of workspaces: random keys, wrapped by the ring `data`, one object each in a bucket of their own. That
 * bucket has no versions and no backup, so a destroyed key is gone, while a restored table has the values that it encrypted.
 */
export const createWorkspaceKeys = ({
  objects,
  clock,
  data,
  fresh,
}: WorkspaceKeysOptions): Pick<Keys, 'ofWorkspace' | 'destroyWorkspaceKey'> => {
  const known = new Map<string, { key: KeyObject; until: number }>()

  const read = async (id: string): Promise<KeyObject | undefined> => {
    const before = known.get(id)
    if (before && before.until > clock.now()) return before.key
    const bytes = await objects.get(dataKeyObject(id))
    if (!bytes) return undefined
    const text = new TextDecoder().decode(bytes)
    if (text === DESTROYED) throw new Error(`the data key of ${id} is destroyed`)
    const key = createSecretKey(await unsealBytes(await data(), dataKeyRecord(id), text))
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(id, { key, until: clock.now() + fresh })
    return key
  }

  const readOrCreate = async (id: string): Promise<KeyObject> => {
    const before = await read(id)
    if (before) return before
    const wrapped = await seal(await data(), dataKeyRecord(id), randomBytes(32))
    // Another request may be faster. Then its key is the one.
    await objects.create(dataKeyObject(id), Buffer.from(wrapped), 'application/jose')
    const key = await read(id)
    if (!key) throw new Error(`the data key of ${id} could not be created`)
    return key
  }

  return {
    ofWorkspace: (id): SealingKeys => ({
      sealing: async () => ({ id, key: await readOrCreate(id) }),
      opening: async (kid) => (kid === id ? read(id) : undefined),
    }),
    async destroyWorkspaceKey(id) {
      await objects.put(dataKeyObject(id), Buffer.from(DESTROYED), 'text/plain')
      known.delete(id)
    },
  }
}
