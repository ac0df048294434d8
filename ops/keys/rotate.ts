import { RINGS } from '#infra/rings.ts'
import { KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { type Clock, HOUR, iso, MINUTE } from '#shared/kernel/clock.ts'
import type { RingName } from '#shared/kernel/ports/keys.ts'
import { OperatorError } from '../command.ts'
import type { Walked } from './reseal.ts'
import { addKey, readRing, removeKeys, setCurrentKey } from './ring.ts'
import type { RingStore, RingVersion } from './secret.ts'

/** Time from adding a key until every function has read it, with a minute to spare. */
export const WAIT = KEYS_FRESH + MINUTE

/** Period after a rotation in which another one needs `--again`, because it is probably a repeated command. */
const JUST_NOW = HOUR

export interface Operation {
  ring: RingName
  store: RingStore
  clock: Clock
  sleep(ms: number): Promise<void>
  say(line: string): void
  /** Publishes the public keys of a ring that signs tokens. */
  publish?(text: string): Promise<void>
}

/** Replaces the ring's version that was read. */
async function replace({ store, publish }: Operation, before: RingVersion, text: string): Promise<void> {
  await store.replace(before, text)
  await publish?.(text)
}

/** Describes the keys of a ring, one per line. */
export async function describeRing({ ring, store }: Pick<Operation, 'ring' | 'store'>): Promise<string[]> {
  const version = await store.read()
  const { current, next, old } = readRing(version.text)
  const retirable = iso(version.changedAt + RINGS[ring].life)
  return [
    `${ring}: ${RINGS[ring].what}; changed at ${iso(version.changedAt)}`,
    `  ${current}  current`,
    ...(next === undefined ? [] : [`  ${next}  added, not in use yet: npm run keys -- rotate continues with it`]),
    ...old.map((id) => `  ${id}  out of use; can be retired from ${retirable}`),
  ]
}

/**
 * Rotates a ring without signing anyone out: adds a key, waits until every function has read it, and then makes it the current key.
 * The old key still verifies. A rotation that was stopped continues where it was.
 *
 * @param now doesn't wait. A function that read the ring in the last half minute then refuses what the new key signed
 * @param again rotates even if a rotation ended within the last hour
 */
export async function rotate(operation: Operation, { now = false, again = false } = {}): Promise<void> {
  const { store, clock, sleep, say } = operation
  let version = await store.read()
  let state = readRing(version.text)
  if (state.next === undefined) {
    if (!again && state.old.length > 0 && clock.now() - version.changedAt < JUST_NOW) {
      return say(`${state.current} is in use since ${iso(version.changedAt)}. Give --again to add another key.`)
    }
    await replace(operation, version, addKey(version.text))
    version = await store.read()
    state = readRing(version.text)
  }
  const { next, current } = state
  if (next === undefined)
    throw new OperatorError('Someone else rotated this keyring at the same time. Run the command again.')
  say(`${next} is added. ${current} is in use until every function has read it.`)
  const left = Math.min(WAIT, version.changedAt + WAIT - clock.now())
  if (!now && left > 0) {
    say(`Waiting ${Math.ceil(left / MINUTE)} minutes. If this is stopped, run it again.`)
    await sleep(left)
  }
  await use(operation, next)
  say(
    `${next} is in use, everywhere within ${KEYS_FRESH / MINUTE} minutes. ${current} still verifies until it is retired.`,
  )
}

async function use(operation: Operation, id: string): Promise<void> {
  const version = await operation.store.read()
  const { current, next } = readRing(version.text)
  if (current === id) return
  if (next !== id) throw new OperatorError('Someone else changed this keyring at the same time. Run the command again.')
  await replace(operation, version, setCurrentKey(version.text, id))
}

/** Re-encrypts values that an old data key encrypted. `dry` only counts them. */
export type Reseal = (text: string, options: { dry: boolean }) => Promise<Walked>

/**
 * Removes keys that are out of use, once nothing can need them any more.
 *
 * @param leaked removes them at once, so that tokens they signed are refused; never while values are encrypted with them
 */
export async function retire(operation: Operation, reseal: Reseal, { leaked = false } = {}): Promise<void> {
  const { ring, store, clock, say } = operation
  const version = await store.read()
  const { old } = readRing(version.text)
  if (old.length === 0) return say('No key is out of use, so there is nothing to retire.')
  const from = version.changedAt + RINGS[ring].life
  if (!leaked && clock.now() < from) throw tooEarly(ring, old, from)
  if (ring === 'data') await refuseIfNeeded(version, reseal)
  await replace(operation, version, removeKeys(version.text, old))
  say(`Removed: ${old.join(', ')}. Running functions forget them within ${KEYS_FRESH / MINUTE} minutes.`)
}

const tooEarly = (ring: RingName, old: string[], from: number) =>
  new OperatorError(
    `${old.join(', ')} may still be needed by ${ring === 'data' ? 'a restored table' : 'a token'} until ${iso(from)}. ` +
      `Run this again after that, or with --leaked ${ring === 'data' ? 'to give up such a restore' : 'to sign out everyone with such a token'}.`,
  )

async function refuseIfNeeded({ text }: RingVersion, reseal: Reseal): Promise<void> {
  const { sealed } = await reseal(text, { dry: true })
  if (sealed === 0) return
  throw new OperatorError(`${sealed} values are encrypted with the old keys. Run npm run keys -- reseal first.`)
}

/**
 * Re-encrypts with the current key what older keys encrypted. If there was anything, the ring gets a new version with the same text:
 * a table restored to a later time needs only the current key.
 */
export async function resealAll({ store, say }: Operation, reseal: Reseal): Promise<void> {
  const version = await store.read()
  const { seen, sealed } = await reseal(version.text, { dry: false })
  if (sealed > 0) await store.replace(version, version.text)
  say(`${sealed} values in ${seen} items are encrypted again.`)
}
