import { randomBytes } from 'node:crypto'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { OperatorError } from '../command.ts'

/** State of a keyring's keys, without the keys. */
export interface RingState {
  /** Id of the key that signs and encrypts. */
  current: string
  /** Id of the next current key. Every function can verify with it before one signs with it. */
  next: string | undefined
  /** Ids of keys that are out of use: they only verify and decrypt. */
  old: string[]
}

/** Reads a keyring's text. @throws {OperatorError} that quotes nothing of the text */
export function readRing(text: string): RingState {
  const { current, ...keys } = parse(text)
  const ids = Object.keys(keys).filter((id) => id !== current)
  const mine = numberOf(current)
  const next = mine === undefined ? undefined : ids.filter((id) => (numberOf(id) ?? 0) > mine).at(-1)
  return { current, next, old: ids.filter((id) => id !== next) }
}

/** Adds a new key that isn't used yet. Ids count up, so that no id ever means two keys. */
export function addKey(text: string): string {
  const ring = parse(text)
  const highest = Math.max(0, ...Object.keys(ring).map((id) => numberOf(id) ?? 0))
  return JSON.stringify({ ...ring, [`k${highest + 1}`]: randomBytes(32).toString('hex') })
}

/** Changes the key that signs. */
export const setCurrentKey = (text: string, current: string): string => JSON.stringify({ ...parse(text), current })

/** Removes keys. */
export function removeKeys(text: string, ids: readonly string[]): string {
  const kept = Object.entries(parse(text)).filter(([id]) => !ids.includes(id))
  return JSON.stringify(Object.fromEntries(kept))
}

const numberOf = (id: string): number | undefined => {
  const digits = /^k(\d{1,9})$/.exec(id)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

const parse = (text: string): { current: string; [id: string]: string } => {
  try {
    parseKeyring(text)
    return JSON.parse(text)
  } catch {
    throw new OperatorError('The secret is not a keyring: {"current": "<id>", "<id>": "<key>", …}.')
  }
}
