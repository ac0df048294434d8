import { createHash, randomBytes } from 'node:crypto'

/** Resource → identifier prefix (contract/general.md#identifiers). */
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
  appRevision: 'arv',
  webhook: 'whk',
  grant: 'grt',
  audit: 'aud',
  admin: 'adm',
  adminKey: 'aky',
  adminSession: 'ase',
  passkey: 'psk',
  passkeyChallenge: 'pkc',
  developerKey: 'dky',
  developerMember: 'dme',
  mail: 'eml',
  agentRequest: 'arq',
  abuseReport: 'abr',
  account: 'acc',
  thread: 'dlg',
  invitation: 'inv',
  session: 'ses',
  verification: 'vrf',
  listener: 'lsn',
  listenedRequest: 'lrq',
  receipt: 'rcp',
  a2aContext: 'ctx',
  pushConfig: 'pnc',
  budget: 'bdg',
  schedule: 'sch',
  occurrence: 'occ',
} as const

export type IdKind = keyof typeof PREFIXES

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Formats a whole number below 2^53 as `digits` digits of lower-case Crockford base32. */
const base32 = (value: number, digits: number): string => {
  let text = ''
  for (let i = 0, rest = value; i < digits; i++) {
    text = ALPHABET[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Formats a ULID: 48 bits of time and 80 random bits (github.com/ulid/spec). Each half of the bits fits a number. */
const ulid = (ms: number, random: Uint8Array): string => {
  const bits = Buffer.from(random.buffer, random.byteOffset, 10)
  return base32(ms, 10) + base32(bits.readUIntBE(0, 5), 8) + base32(bits.readUIntBE(5, 5), 8)
}

/** Creates an id: `<prefix>_` and a lower-case ULID, so ids sort by creation time. */
export const newId = (kind: IdKind, nowMs: number): string => `${PREFIXES[kind]}_${ulid(nowMs, randomBytes(10))}`

/**
 * Derives an id from its inputs, so that a repeated worker writes the same record instead of a second one.
 * @param ms creation time of the record; 0 for an id that must be found without knowing it
 * @param seed identity of the record, unique within its kind, such as the event and subscription of a delivery
 */
export const derivedId = (kind: IdKind, ms: number, seed: string): string =>
  `${PREFIXES[kind]}_${ulid(ms, createHash('sha256').update(`${kind}\n${seed}`).digest())}`

/** Returns the id of another kind with the same time and random part, for a record that another one can be found by. */
export const siblingId = (kind: IdKind, id: string): string => `${PREFIXES[kind]}${id.slice(id.indexOf('_'))}`

/**
 * Creates the ids of a request's or a worker's records. Its first run is a sibling of the request, so that the run is found by
 * the request's id without an index.
 */
export const idsOf = (requestId: string, now: () => number): ((kind: IdKind) => string) => {
  let hasRun = false
  return (kind) => {
    if (kind !== 'run' || hasRun) return newId(kind, now())
    hasRun = true
    return siblingId('run', requestId)
  }
}

declare const ID_TIME: unique symbol

/** Time of an id, in epoch milliseconds. The type keeps any other reading of the clock out of a record's `created_at`. */
export type IdTime = number & { readonly [ID_TIME]: true }

/** Returns the creation time of an id in epoch milliseconds. */
export const idTime = (id: string): IdTime => {
  let ms = 0
  for (const char of id.slice(id.indexOf('_') + 1).slice(0, 10)) ms = ms * 32 + ALPHABET.indexOf(char)
  return ms as IdTime
}

/** Time of an id that derives from names or other ids, and of what is built each time that it is used. */
export const NO_TIME = 0 as IdTime

/**
 * Returns the id and the creation time of a new record. Both are one reading of the clock: lists are sorted by ids, and a range of
 * times is a range of ids, so a record with another time would be listed out of order and missing from a range that begins with it.
 * @param fixedAt creation time of a record whose id derives from a name or from other ids, and has no time of its own
 */
export const stampOf = (id: string, fixedAt?: number): { id: string; created_at: IdTime } => ({
  id,
  created_at: idTime(id) || ((fixedAt ?? NO_TIME) as IdTime),
})

/** Returns the smallest id of a time, for use as the bound of a range. */
export const idFloor = (kind: IdKind, ms: number): string => `${PREFIXES[kind]}_${ulid(ms, new Uint8Array(10))}`

/** Returns true for a string of the id's exact shape. Nothing else ever reaches a key. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(`${PREFIXES[kind]}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(PREFIXES[kind].length + 1))
