import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { AuditEntity, type AuditEntry, auditMonth, auditOf } from '#shared/staff/audit/index.ts'
import { type ListSource, mergedPage, pageAtOffsetWithCount } from '#shared/table/lists.ts'
import { eachPage } from '#shared/table/pages.ts'
import type { Page } from '#shared/table/table.ts'
import { matchesAction } from './list.ts'
import type { AuditFilter } from './schemas.ts'

/** Days covered by default. Without `since`, a subject or a workspace, the list reads one part per month. */
const DAYS = 90

/** Maximum number of entries counted beyond the page. */
const COUNTED_AHEAD = 1_000

/** Maximum number of entries searched for a rare actor or action, and per read. */
const LOOKED_AT = 2_000
const STEP = 250

export interface PlatformAuditFilter extends AuditFilter {
  workspace?: string | undefined
}

/**
 * Lists the audit of the platform, a record or a workspace, newest first. Filters covered by an index (time, subject,
 * workspace) are counted exactly, up to 1,000 entries beyond the page. An actor or action is searched among the newest
 * 2,000 entries.
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
    return pageAtOffsetWithCount(deps.table, AuditEntity, sources, { offset, limit, ahead: COUNTED_AHEAD, ...bounds })
  }
  const read = (after: string | undefined): Promise<Page<AuditEntry>> => {
    const options = { limit: STEP, after, ...bounds }
    return workspace === undefined || subject !== undefined
      ? mergedPage(deps.table, AuditEntity, sources, options)
      : deps.table.query(AuditEntity, { scope: workspace }, { ...options, ...sortKeys(bounds), after })
  }
  const most = narrowed ? LOOKED_AT : offset + limit + COUNTED_AHEAD
  const found: AuditEntry[] = []
  let looked = 0
  for await (const entries of eachPage(read)) {
    looked += entries.length
    found.push(...entries.filter((entry) => fits(entry, filter)))
    if (looked >= most) break
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

/** Returns the starts of the months between two times, newest first. */
const monthsBetween = (from: number, to: number): number[] => {
  const months: number[] = []
  for (let month = auditMonth(to); month >= auditMonth(from); month = auditMonth(month - 1)) months.push(month)
  return months
}

/** Converts the bounds to sort keys of a workspace's partition. */
const sortKeys = ({ from, to }: { from?: string; to?: string }) => ({
  ...(from !== undefined && { from: AuditEntity.prefix + from }),
  ...(to !== undefined && { to: AuditEntity.prefix + to }),
})

const fits = (entry: AuditEntry, { action, actor, subject, workspace }: PlatformAuditFilter): boolean =>
  (action === undefined || matchesAction(action, entry.action)) &&
  (actor === undefined || entry.actor.id === actor) &&
  (subject === undefined || entry.target.id === subject) &&
  (workspace === undefined || entry.scope === workspace)
