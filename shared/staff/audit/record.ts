import type { Work } from '#shared/foundation/work/index.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { MINUTE, utcDate } from '#shared/kernel/clock.ts'
import { idTime } from '#shared/kernel/ids.ts'
import { listDirectory } from '#shared/table/lists.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { contentOf, genesisOf, hashAfter } from './chain.ts'
import {
  type AuditDay,
  AuditDayEntity,
  AuditEntity,
  AuditIntakeEntity,
  type NewAuditEntry,
  stateOf,
  UnanchoredEntity,
} from './entity.ts'

/** Entries per transaction. Each takes two of its hundred items. */
const AT_ONCE = 40

type Recording = Pick<Work, 'table' | 'clock' | 'log'>

/** Moves entries from the intake into the audit, chained to those before. Repeats have no effect. */
export const recordEntries = async (work: Recording, entries: readonly NewAuditEntry[]): Promise<void> => {
  const byScope = Map.groupBy(new Map(entries.map((entry) => [entry.id, entry])).values(), ({ scope }) => scope)
  for (const [scope, own] of byScope) {
    const inOrder = own.sort((a, b) => (a.id < b.id ? -1 : 1))
    for (let at = 0; at < inOrder.length; at += AT_ONCE) {
      const part = inOrder.slice(at, at + AT_ONCE)
      await retryOnConflict(() => recordPart(work, scope, part))
    }
  }
}

const recordPart = async (work: Recording, scope: string, entries: readonly NewAuditEntry[]): Promise<void> => {
  const now = work.clock.now()
  const day = utcDate(now)
  const [today, ...recorded] = await work.table.getAll([
    AuditDayEntity.ref({ scope, day }),
    ...entries.map((entry) => AuditEntity.ref(entry)),
  ])
  const before = (today as AuditDay | undefined) ?? (await newDay(work, scope, day, now))
  const fresh = entries.filter((entry, i) => {
    const standing = recorded[i] as NewAuditEntry | undefined
    if (standing && canonicalJson(contentOf(standing)) !== canonicalJson(contentOf(entry)))
      work.log.error('an audit entry was written again with another content, which is ignored', { scope, id: entry.id })
    return !standing
  })
  let { count, head } = before
  const chained = fresh.map((entry) => {
    const previous = head
    head = hashAfter(previous, entry)
    count += 1
    return AuditEntity.create({ ...entry, chain: { day, seq: count, previous, hash: head } })
  })
  const moved = entries.map((entry) => AuditIntakeEntity.delete(entry))
  if (fresh.length === 0) return work.table.transact(moved)
  const ids = [...fresh.map(({ id }) => id), ...(before.count > 0 ? [before.first_id, before.last_id] : [])].sort()
  const after = { count, head, first_id: ids[0] ?? '', last_id: ids.at(-1) ?? '' }
  await work.table.transact([
    today
      ? AuditDayEntity.replace({ ...before, ...after }, { where: stateOf(before) })
      : AuditDayEntity.create({ ...before, ...after }),
    ...chained,
    ...moved,
    UnanchoredEntity.replace({ scope, day, created_at: now }),
  ])
}

/** Returns the day's empty chain, which continues that of the last day before. */
const newDay = async ({ table }: Recording, scope: string, day: string, now: number): Promise<AuditDay> => {
  const last = { limit: 1, to: AuditDayEntity.key({ scope, day }).sk }
  const { items } = await table.query(AuditDayEntity, { scope }, last)
  const head = items[0]?.head ?? genesisOf(scope)
  return {
    scope,
    day,
    previous: head,
    count: 0,
    head,
    first_id: '',
    last_id: '',
    anchored: 0,
    anchors: 0,
    created_at: now,
  }
}

/** Age from which an entry that is still in the intake counts as lost by the stream. */
const LOST_AFTER = 2 * MINUTE

/** Records entries that the stream didn't bring. There are none unless a reader of the stream failed for long. */
export const recordLeftovers = async (work: Recording): Promise<void> => {
  const { items } = await listDirectory(work.table, AuditIntakeEntity, 'audit-intake', undefined, {
    limit: 1_000,
    ascending: true,
  })
  const lost = items.filter(({ id }) => idTime(id) <= work.clock.now() - LOST_AFTER)
  if (lost.length > 0) work.log.warn('audit entries were left in the intake', { entries: lost.length })
  await recordEntries(work, lost)
}
