import { DAY, utcDate } from '#shared/kernel/clock.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import { allItems } from '#shared/table/pages.ts'
import type { Table } from '#shared/table/table.ts'
import { type Anchor, loadAnchor, loadRange } from './anchor.ts'
import { genesisOf, hashAfter } from './chain.ts'
import { type AuditDay, AuditDayEntity, AuditEntity, type AuditEntry } from './entity.ts'

/** First thing that is wrong in a range of the audit. */
export interface Broken {
  day: string
  /** Entry that is wrong, or that is missing if an anchor names it. Absent if a whole day is wrong. */
  id?: string | undefined
  seq?: number | undefined
  problem: string
}

export interface Verification {
  days: number
  entries: number
  /** Entries that the bucket doesn't hold yet. */
  unanchored: number
  broken?: Broken
}

type Reading = { table: Table; objects: Pick<ObjectStore, 'get'> }

class Found extends Error {
  readonly broken: Broken
  constructor(broken: Broken) {
    super(broken.problem)
    this.broken = broken
  }
}

/**
 * Verifies the chain of a scope's audit over days, against the anchors in the bucket. Stops at the first entry that was
 * changed, removed, added or moved.
 * @param from first day, `YYYY-MM-DD`
 * @param to last day, included
 */
export const verifyAudit = async (
  { table, objects }: Reading,
  { scope, from, to, now }: { scope: string; from: string; to: string; now: number },
): Promise<Verification> => {
  const result: Verification = { days: 0, entries: 0, unanchored: 0 }
  try {
    const days = await loadDays(table, scope)
    const byDay = new Map(days.map((day) => [day.day, day]))
    const chained = await loadEntries(table, scope, { from, to }, days)
    for (const day of calendar(from, to)) {
      const record = byDay.get(day)
      const anchors = await loadAnchors(objects, scope, day)
      const own = chained.get(day) ?? []
      if (!record) {
        const lost = anchors[0]?.entries[0] ?? (own[0] && { id: own[0].id, seq: own[0].chain.seq })
        if (lost) throw new Found({ day, ...lost, problem: 'The record of the whole day is missing.' })
        continue
      }
      verifyLink(record, days[days.indexOf(record) - 1], now)
      verifyDay(record, own, anchors)
      result.days += 1
      result.entries += own.length
      result.unanchored += record.count - anchors.reduce((sum, { entries }) => sum + entries.length, 0)
    }
  } catch (error) {
    if (!(error instanceof Found)) throw error
    result.broken = error.broken
  }
  return result
}

/** Loads the states of a scope's chains in order. */
const loadDays = (table: Table, scope: string): Promise<AuditDay[]> =>
  allItems((after) => table.query(AuditDayEntity, { scope }, { limit: 500, ascending: true, after }))

/**
 * Loads the entries of a range by day. An entry belongs to the day on which it was recorded, which may be a later one.
 * @throws {Found} for one that somebody wrote without a place in the chain
 */
const loadEntries = async (
  table: Table,
  scope: string,
  { from, to }: { from: string; to: string },
  days: readonly AuditDay[],
) => {
  const own = days.filter(({ day }) => day >= from && day <= to)
  const ids = [
    idFloor('audit', Math.max(0, Date.parse(from))),
    idFloor('audit', Date.parse(to) + DAY),
    ...own.flatMap(({ first_id, last_id }) => [first_id, last_id]),
  ].sort()
  const bounds = { from: `${AuditEntity.prefix}${ids[0]}`, to: `${AuditEntity.prefix}${ids.at(-1)}` }
  const all = await loadRange(table, scope, bounds)
  const loose = all.find(({ chain }: Partial<AuditEntry>) => chain === undefined)
  if (loose) throw new Found({ day: utcDate(loose.created_at), id: loose.id, problem: 'The entry isn’t in the chain.' })
  return Map.groupBy(all, ({ chain }) => chain.day)
}

/** Lists the days from one to another, both included. */
const calendar = (from: string, to: string): string[] => {
  const days: string[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY) days.push(utcDate(at))
  return days
}

const loadAnchors = async (objects: Reading['objects'], scope: string, day: string): Promise<Anchor[]> => {
  const anchors: Anchor[] = []
  for (let number = 1; ; number++) {
    const anchor = await loadAnchor(objects, { scope, day }, number)
    if (!anchor) return anchors
    anchors.push(anchor)
  }
}

const verifyLink = ({ scope, day, previous }: AuditDay, before: AuditDay | undefined, now: number): void => {
  // The days before the audit's retention are gone, so the first that is left continues an unknown one.
  if (before ? previous === before.head : previous === genesisOf(scope) || day < utcDate(now - 700 * DAY)) return
  throw new Found({ day, problem: `The day doesn’t continue ${before?.day ?? 'the beginning of the audit'}.` })
}

const verifyDay = (record: AuditDay, entries: readonly AuditEntry[], anchors: readonly Anchor[]): void => {
  const { day, count } = record
  const anchored = new Map(anchors.flatMap((anchor) => anchor.entries).map((one) => [one.seq, one]))
  const bySeq = Map.groupBy(entries, ({ chain }) => chain.seq)
  let previous = record.previous
  for (let seq = 1; seq <= Math.max(count, anchored.size); seq++) {
    const [entry, twin] = bySeq.get(seq) ?? []
    const anchor = anchored.get(seq)
    if (!entry) throw new Found({ day, seq, id: anchor?.id, problem: 'The entry is missing.' })
    const { id, chain } = entry
    const broken = (problem: string) => new Found({ day, seq, id, problem })
    if (twin) throw new Found({ day, seq, id: anchor?.id === id ? twin.id : id, problem: 'The entry was added.' })
    if (anchor && anchor.id !== id) throw new Found({ day, seq, id: anchor.id, problem: 'The entry was replaced.' })
    const hash = hashAfter(previous, entry)
    if (chain.previous !== previous || chain.hash !== hash) throw broken('The entry was changed.')
    if (anchor && anchor.hash !== hash) throw broken('The entry was changed, and the chain after it rewritten.')
    previous = hash
  }
  const extra = entries.find(({ chain }) => chain.seq > count || chain.seq < 1)
  if (extra) throw new Found({ day, seq: extra.chain.seq, id: extra.id, problem: 'The entry was added.' })
  if (previous !== record.head) throw new Found({ day, problem: 'The record of the day names another last entry.' })
}
