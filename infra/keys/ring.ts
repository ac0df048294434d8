import { randomBytes } from 'node:crypto'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { OperatorError } from '../operator/command.ts'

/** What a keyring's text says of its keys, without the keys. */
export interface RingState {
  /** Signs and encrypts. */
  current: string
  /** Added to be current next: everybody can verify with it before anybody signs with it. */
  next: string | undefined
  /** Out of use: they only verify and decrypt. */
  old: string[]
}

/** @throws {OperatorError} that quotes nothing of what is kept there */
export function readRing(text: string): RingState {
  const { current, ...keys } = parse(text)
  const ids = Object.keys(keys).filter((id) => id !== current)
  const mine = numberOf(current)
  const next = mine === undefined ? undefined : ids.filter((id) => (numberOf(id) ?? 0) > mine).at(-1)
  return { current, next, old: ids.filter((id) => id !== next) }
}

/** The ring with a new key, which nobody uses yet. Ids count up, so that none ever means two keys. */
export function withNewKey(text: string): string {
  const ring = parse(text)
  const highest = Math.max(0, ...Object.keys(ring).map((id) => numberOf(id) ?? 0))
  return JSON.stringify({ ...ring, [`k${highest + 1}`]: randomBytes(32).toString('hex') })
}

/** The ring that signs with another of its keys. */
export const withCurrent = (text: string, current: string): string => JSON.stringify({ ...parse(text), current })

/** The ring without some of its keys. */
export function without(text: string, ids: readonly string[]): string {
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
