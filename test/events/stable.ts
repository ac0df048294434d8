import { createHash } from 'node:crypto'
import { idFloor } from '#shared/kernel/ids.ts'

/** Time of every recorded event. */
const AT = Date.UTC(2026, 0, 15, 12)
const MINUTE = 60_000

const ISO = new Date(AT).toISOString()
const PORT = '3000'

/** Numbers distinct matches in order, so that equal values stay equal. */
const numbered = (text: string, pattern: RegExp, name: (match: string, n: number) => string): string => {
  const names = new Map<string, string>()
  return text.replaceAll(pattern, (match) => {
    const known = names.get(match) ?? name(match, names.size + 1)
    names.set(match, known)
    return known
  })
}

const stableIds = (text: string): string => {
  const ulid = idFloor('run', AT).slice('run_'.length)
  const id = (match: string, n: number) => match.slice(0, -26) + ulid.slice(0, -3) + String(n).padStart(3, '0')
  const uuid = (_: string, n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  const withIds = numbered(text, /\b[a-z]{2,3}_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, id)
  return numbered(withIds, /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, uuid)
}

/** Times keep their distances in minutes: what is due a minute later still is. */
const stableTimes = (text: string): string => {
  const began = Number(/\b1[7-9]\d{11}\b/.exec(text)?.[0] ?? AT)
  const moved = (ms: number) => AT + Math.round((ms - began) / MINUTE) * MINUTE
  return text
    .replaceAll(/\b1[7-9]\d{11}\b/g, (ms) => String(moved(Number(ms))))
    .replaceAll(/\b1[7-9]\d{8}\b/g, (seconds) => String(moved(Number(seconds) * 1_000) / 1_000))
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, `${ISO.slice(0, 19)}Z`)
    .replaceAll(/\b\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000/g, '15/Jan/2026:12:00:00 +0000')
    .replaceAll(/(duration_ms\\*":)\d+/g, '$120')
}

const stableAddress = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${PORT}`)
    .replaceAll(/("X-Forwarded-Port":\[?)"\d+"/g, `$1"${PORT}"`)
    .replaceAll(/Root=1-[0-9a-f]{8}-[0-9a-f]{24}/g, `Root=1-${(AT / 1_000).toString(16)}-${'0'.repeat(24)}`)
    .replaceAll(/("connectionId":|"sec-websocket-key":)"[^"]*"/g, '$1"recorded"')
    .replaceAll(/("extendedRequestId":)"[^"]*"/g, '$1"recorded"')

/** Every receipt of a decision has a signature of its own. */
const stableReceipts = (text: string): string => text.replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'receipt')

/** Shards are drawn. */
const stableShards = (text: string): string =>
  text.replaceAll(/DUE#\d+/g, 'DUE#0').replaceAll(/(DIR#[\w-]+#[^#"]*#)\d+/g, '$10')

interface Recorded {
  body?: string
  md5OfBody?: string
  eventID?: string
  dynamodb?: object
}

/** Sorts attributes, because DynamoDB returns them in any order. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  )
}

const ordered = (record: Recorded): Recorded => {
  if (record.dynamodb) return { ...record, dynamodb: sorted(record.dynamodb) as object }
  return record.body === undefined ? record : { ...record, body: JSON.stringify(sorted(JSON.parse(record.body))) }
}

/** Replaces values that can't be rewritten as text: the digest of the changed body, the position in the stream. */
const stabilized = (record: Recorded, i: number): Recorded => {
  if (record.body !== undefined) {
    return { ...record, md5OfBody: createHash('md5').update(record.body).digest('hex') }
  }
  if (!record.dynamodb) return record
  const number = String(i + 1)
  return { ...record, eventID: number, dynamodb: { ...record.dynamodb, SequenceNumber: number, SizeBytes: 750 } }
}

/** Returns the event with ids, times and addresses that stay the same at every recording. */
export const stable = <T>(event: T & { Records?: Recorded[] }): T => {
  const given = event.Records ? { ...event, Records: event.Records.map(ordered) } : event
  const text = stableShards(stableReceipts(stableAddress(stableTimes(stableIds(JSON.stringify(given))))))
  const value = JSON.parse(text) as T & { Records?: Recorded[] }
  return value.Records ? { ...value, Records: value.Records.map(stabilized) } : value
}
