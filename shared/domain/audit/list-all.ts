import { AuditEntity, type AuditEntry, auditMonth, auditOf } from '../../entities/platform.ts'
import { DAY } from '../../kernel/clock.ts'
import { idFloor } from '../../kernel/ids.ts'
import { type ListSource, mergedPage, skipAndCount } from '../../table/lists.ts'
import type { Page } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import { actionFits } from './list.ts'
import type { AuditFilter } from './schemas.ts'

/** Without `since`, a subject or a workspace the list goes back so far: it reads each month’s part. */
const DAYS = 90
/** Entries counted behind the page. */
const COUNTED_AHEAD = 1_000
/** Entries looked at for a rare actor or action, and at once. */
const LOOKED_AT = 2_000
const STEP = 250

export interface PlatformAuditFilter extends AuditFilter {
  workspace?: string | undefined
}

/**
 * The whole platform’s audit, newest first, or one record’s or one workspace’s. What an index narrows (time, subject,
 * workspace) is counted exactly, as far as 1,000 entries behind the page; an actor or an action is looked for among the newest
 * 2,000 of those.
 */
export const listPlatformAudit = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  filter: PlatformAuditFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: AuditEntry[]; total: number }> => {
  const { sources, bounds } = rangeOf(deps, filter)
  const { subject, workspace, action, actor } = filter
  const narrowed = action !== undefined || actor !== undefined || (workspace !== undefined && subject !== undefined)
  if (!narrowed && workspace === undefined) {
    return skipAndCount(deps.table, AuditEntity, sources, { offset, limit, ahead: COUNTED_AHEAD, ...bounds })
  }
  const read = (after: string | undefined): Promise<Page<AuditEntry>> => {
    const options = { limit: STEP, after, ...bounds }
    return workspace === undefined || subject !== undefined
      ? mergedPage(deps.table, AuditEntity, sources, options)
      : deps.table.query(AuditEntity, { scope: workspace }, { ...options, ...sortKeys(bounds), after })
  }
  const most = narrowed ? LOOKED_AT : offset + limit + COUNTED_AHEAD
  const found: AuditEntry[] = []
  let after: string | undefined
  for (let looked = 0; looked < most; ) {
    const page = await read(after)
    looked += page.items.length
    found.push(...page.items.filter((entry) => fits(entry, filter)))
    after = page.next
    if (after === undefined) break
  }
  return { items: found.slice(offset, offset + limit), total: found.length }
}

const rangeOf = ({ clock }: Pick<Deps, 'clock'>, { since, until, subject, workspace }: PlatformAuditFilter) => {
  const now = clock.now()
  const to = until === undefined ? undefined : Date.parse(until)
  const from = since === undefined ? undefined : Date.parse(since)
  const bounds = {
    ...(from !== undefined && { from: idFloor('audit', Math.max(0, from)) }),
    ...(to !== undefined && { to: idFloor('audit', Math.max(0, to)) }),
  }
  if (subject !== undefined) return { sources: [{ list: auditOf(subject) }] as ListSource[], bounds }
  if (workspace !== undefined) return { sources: [], bounds }
  const last = Math.min(to ?? now, now)
  const first = Math.max(from ?? last - DAYS * DAY, now - 2 * 366 * DAY)
  return {
    sources: monthsBetween(first, last).map((day) => ({ directory: 'audit', day })) as ListSource[],
    bounds: {
      ...bounds,
      from: idFloor('audit', Math.max(0, first)),
    },
  }
}

/** The starts of the months from one time to another, the newest first. */
const monthsBetween = (from: number, to: number): number[] => {
  const months: number[] = []
  for (let month = auditMonth(to); month >= auditMonth(from); month = auditMonth(month - 1)) months.push(month)
  return months
}

/** The same bounds as sort keys of a workspace’s partition. */
const sortKeys = ({ from, to }: { from?: string; to?: string }) => ({
  ...(from !== undefined && { from: AuditEntity.prefix + from }),
  ...(to !== undefined && { to: AuditEntity.prefix + to }),
})

const fits = (entry: AuditEntry, { action, actor, subject, workspace }: PlatformAuditFilter): boolean =>
  (action === undefined || actionFits(action, entry.action)) &&
  (actor === undefined || entry.actor.id === actor) &&
  (subject === undefined || entry.target.id === subject) &&
  (workspace === undefined || entry.scope === workspace)
