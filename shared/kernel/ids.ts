import { createHash, randomBytes } from 'node:crypto'

/** Resource → identifier prefix (specification "Identifier prefixes", decisions §1). */
export const PREFIXES = {
  installation: 'ins',
  workspace: 'ws',
  app: 'app',
  run: 'run',
  step: 'stp',
  event: 'evt',
  delivery: 'whd',
  request: 'req',
  user: 'usr',
  task: 'tsk',
  conversation: 'cnv',
  message: 'msg',
  file: 'fil',
  folder: 'fld',
  notification: 'ntf',
  review: 'rev',
  developer: 'dev',
  version: 'ver',
  webhook: 'whk',
  grant: 'grt',
  audit: 'aud',
  admin: 'adm',
  agentRequest: 'arq',
  abuseReport: 'abr',
  account: 'acc',
  dialog: 'dlg',
  invitation: 'inv',
  session: 'ses',
} as const

export type IdKind = keyof typeof PREFIXES

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Crockford base32 in lower case of a ULID's 48-bit time and 80 random bits (github.com/ulid/spec). */
const ulid = (ms: number, random: Uint8Array): string => {
  let time = ''
  for (let i = 0, rest = ms; i < 10; i++) {
    time = ALPHABET[rest % 32] + time
    rest = Math.floor(rest / 32)
  }
  let value = 0n
  for (let i = 0; i < 10; i++) value = (value << 8n) | BigInt(random[i] ?? 0)
  let tail = ''
  for (let i = 0; i < 16; i++) {
    tail = ALPHABET[Number(value & 31n)] + tail
    value >>= 5n
  }
  return time + tail
}

/** A new id: `<prefix>_` and a lower-case ULID, sortable by the time it was made. */
export const newId = (kind: IdKind, nowMs: number): string => `${PREFIXES[kind]}_${ulid(nowMs, randomBytes(10))}`

/**
 * An id that the same inputs always give: what makes a repeated worker write the same record instead of a second one.
 * @param seed what the id stands for, unique in its kind, such as the event and the subscription of a delivery
 */
export const derivedId = (kind: IdKind, ms: number, seed: string): string =>
  `${PREFIXES[kind]}_${ulid(ms, createHash('sha256').update(`${kind}\n${seed}`).digest())}`

/** Milliseconds since the epoch at which the id was made. */
export const idTime = (id: string): number => {
  let ms = 0
  for (const char of id.slice(id.indexOf('_') + 1).slice(0, 10)) ms = ms * 32 + ALPHABET.indexOf(char)
  return ms
}

/** The smallest suffix of an id made at that time: the bound of a range over ids. */
export const idFloor = (kind: IdKind, ms: number): string => `${PREFIXES[kind]}_${ulid(ms, new Uint8Array(10))}`

/** True for a string of the id's exact shape. Nothing else ever reaches a key. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(`${PREFIXES[kind]}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(PREFIXES[kind].length + 1))
