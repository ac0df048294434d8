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
  adminKey: 'aky',
  agentRequest: 'arq',
  abuseReport: 'abr',
  account: 'acc',
  dialog: 'dlg',
  invitation: 'inv',
  session: 'ses',
  verification: 'vrf',
  listener: 'lsn',
  listenedRequest: 'lrq',
} as const

export type IdKind = keyof typeof PREFIXES

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** So many digits of a whole number below 2^53 in Crockford base32, in lower case. */
const base32 = (value: number, digits: number): string => {
  let text = ''
  for (let i = 0, rest = value; i < digits; i++) {
    text = ALPHABET[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** A ULID's 48-bit time and 80 random bits (github.com/ulid/spec). The bits come in halves, which a number can hold. */
const ulid = (ms: number, random: Uint8Array): string => {
  const bits = Buffer.from(random.buffer, random.byteOffset, 10)
  return base32(ms, 10) + base32(bits.readUIntBE(0, 5), 8) + base32(bits.readUIntBE(5, 5), 8)
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
