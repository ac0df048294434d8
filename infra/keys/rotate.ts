import { KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { type Clock, HOUR, iso, MINUTE } from '#shared/kernel/clock.ts'
import { OperatorError } from '../operator/command.ts'
import type { Walked } from './reseal.ts'
import { type RingState, readRing, withCurrent, withNewKey, without } from './ring.ts'
import { RINGS, type RingName } from './rings.ts'
import type { RingStore, RingVersion } from './secret.ts'

/** From the addition of a key until every function has read it, with a minute to spare. */
export const WAIT = KEYS_FRESH + MINUTE

/** A rotation that was finished so short ago is the one that is asked for once more. */
const JUST_NOW = HOUR

export interface Operation {
  ring: RingName
  store: RingStore
  clock: Clock
  sleep(ms: number): Promise<void>
  say(line: string): void
}

/** One ring's keys, as lines. */
export async function describeRing({ ring, store }: Pick<Operation, 'ring' | 'store'>): Promise<string[]> {
  const version = await store.read()
  const { current, next, old } = readRing(version.text)
  const retirable = iso(version.changedAt + RINGS[ring].life)
  return [
    `${ring}: ${RINGS[ring].what}; changed at ${iso(version.changedAt)}`,
    `  ${current}  current`,
    ...(next === undefined ? [] : [`  ${next}  added, not in use yet: npm run keys -- rotate goes on with it`]),
    ...old.map((id) => `  ${id}  out of use; can be retired from ${retirable}`),
  ]
}

/**
 * Gives a ring a new key in the order in which nobody is signed out: the key is added, every function has read it, then it is
 * the one that signs. The old one goes on verifying. What was stopped in between goes on where it was.
 *
 * @param now do not wait. What is signed with the new key is refused by a function that read the ring in the last half minute
 * @param again also when a rotation was finished within the hour
 */
export async function rotate(operation: Operation, { now = false, again = false } = {}): Promise<void> {
  const { store, clock, sleep, say } = operation
  let version = await store.read()
  let state = readRing(version.text)
  if (state.next === undefined) {
    if (!again && state.old.length > 0 && clock.now() - version.changedAt < JUST_NOW) {
      return say(`${state.current} is in use since ${iso(version.changedAt)}. Give --again to make yet another key.`)
    }
    await store.replace(version, withNewKey(version.text))
    version = await store.read()
    state = readRing(version.text)
  }
  const { next, current } = state
  if (next === undefined) throw new OperatorError('Somebody else rotated this keyring at the same time.')
  say(`${next} is added. ${current} is in use until every function has read it.`)
  const left = Math.min(WAIT, version.changedAt + WAIT - clock.now())
  if (!now && left > 0) {
    say(`Waiting ${Math.ceil(left / MINUTE)} minutes. If this is stopped, run it again.`)
    await sleep(left)
  }
  await use(operation, next)
  say(
    `${next} is in use, everywhere within ${KEYS_FRESH / MINUTE} minutes. ${current} goes on verifying until it is retired.`,
  )
}

async function use({ store }: Operation, id: string): Promise<void> {
  const version = await store.read()
  const { current, next } = readRing(version.text)
  if (current === id) return
  if (next !== id)
    throw new OperatorError('Somebody else changed this keyring at the same time. Run the command again.')
  await store.replace(version, withCurrent(version.text, id))
}

/** Finds and encrypts anew what an old data key encrypted; `dry` only counts. */
export type Reseal = (text: string, options: { dry: boolean }) => Promise<Walked>

/**
 * Removes the keys that are out of use, once nothing can need them any more.
 *
 * @param leaked at once: what they signed is refused. Never what they encrypted
 */
export async function retire(operation: Operation, reseal: Reseal, { leaked = false } = {}): Promise<void> {
  const { ring, store, clock, say } = operation
  const version = await store.read()
  const { old } = readRing(version.text)
  if (old.length === 0) return say('No key is out of use: there is nothing to retire.')
  const from = version.changedAt + RINGS[ring].life
  if (!leaked && clock.now() < from) throw tooEarly(ring, old, from)
  if (ring === 'data') await refuseIfNeeded(version, reseal)
  await store.replace(version, without(version.text, old))
  say(`Removed: ${old.join(', ')}. Functions that run already forget them within ${KEYS_FRESH / MINUTE} minutes.`)
}

const tooEarly = (ring: RingName, old: string[], from: number) =>
  new OperatorError(
    `${old.join(', ')} may still be needed by ${ring === 'data' ? 'a restored table' : 'a token'} until ${iso(from)}. ` +
      `Run this again after that, or with --leaked ${ring === 'data' ? 'to give up such a restore' : 'to sign out whoever holds such a token'}.`,
  )

async function refuseIfNeeded({ text }: RingVersion, reseal: Reseal): Promise<void> {
  const { sealed } = await reseal(text, { dry: true })
  if (sealed === 0) return
  throw new OperatorError(`${sealed} values are encrypted with the old keys. Run npm run keys -- reseal first.`)
}

/**
 * Encrypts with the current key what older ones encrypted. If there was anything, the ring gets a new version of the same
 * text: from its time on a restored table needs the current key only.
 */
export async function resealAll({ store, say }: Operation, reseal: Reseal): Promise<void> {
  const version = await store.read()
  const state: RingState = readRing(version.text)
  const { seen, sealed } = await reseal(version.text, { dry: false })
  if (sealed > 0) await store.replace(version, version.text)
  say(`${sealed} values in ${seen} items are encrypted anew with ${state.current}.`)
}
