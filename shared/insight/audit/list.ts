import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { AuditEntity, type AuditEntry } from '#shared/staff/audit/index.ts'
import type { Page } from '#shared/table/table.ts'
import { loadNames } from './names.ts'
import type { AuditFilter, Names } from './schemas.ts'

/**
 * Maximum number of entries read per request, so that rare actions cost several short requests instead of one unbounded
 * one.
 */
const LOOKED_AT = 1_000
const STEP = 200

/** Details that say which agent did what with which, and nothing of a conversation. */
const PUBLIC = ['call', 'caller', 'agent', 'tool', 'chain_depth', 'installation_id', 'via', 'reason', 'on_behalf_of']

/** Returns the entry without what only the person of a private conversation may see: its runs and tasks, and their content. */
const shownTo = (viewer: string, entry: AuditEntry): AuditEntry => {
  if (isVisibleTo(viewer, entry)) return entry
  const { target, details } = entry
  return {
    ...entry,
    target: target.type === 'run' ? { type: 'run', id: 'private' } : target,
    details: Object.fromEntries(Object.entries(details).filter(([name]) => PUBLIC.includes(name))),
  }
}

export interface NamedEntry {
  entry: AuditEntry
  names: Names
}

/**
 * Lists a workspace's audit as a member may see it, newest first. Time bounds limit the range that is read. Other filters are applied to a
 * bounded number of entries, so a page may be short or empty and still have a next one.
 */
export const listAudit = async (
  deps: Pick<Deps, 'table'>,
  scope: string,
  viewer: string,
  filter: AuditFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<NamedEntry>> => {
  const found: AuditEntry[] = []
  const narrowed = filter.action !== undefined || filter.actor !== undefined || filter.subject !== undefined
  let at = after
  let more = true
  for (let looked = 0; more && found.length < limit && looked < LOOKED_AT; ) {
    const page = await deps.table.query(
      AuditEntity,
      { scope },
      { limit: narrowed ? STEP : limit, after: at, ...bounds(filter) },
    )
    more = page.next !== undefined
    for (const recorded of page.items) {
      const entry = shownTo(viewer, recorded)
      if (found.length === limit) {
        more = true
        break
      }
      looked += 1
      at = AuditEntity.key(entry).sk
      if (fits(entry, filter)) found.push(entry)
    }
  }
  const names = await loadNames(deps, found)
  return { items: found.map((entry) => ({ entry, names })), next: more ? at : undefined }
}

/** Clamped, because ids can't encode times before 1970. */
const key = (ms: number): string => AuditEntity.key({ scope: '-', id: idFloor('audit', Math.max(0, ms)) }).sk

const bounds = ({ since, until }: AuditFilter) => ({
  ...(since !== undefined && { from: key(Date.parse(since)) }),
  ...(until !== undefined && { to: key(Date.parse(until)) }),
})

const fits = (entry: AuditEntry, { action, actor, subject }: AuditFilter): boolean =>
  (action === undefined || matchesAction(action, entry.action)) &&
  (actor === undefined || entry.actor.id === actor) &&
  (subject === undefined || entry.target.id === subject)

/** @param mask an action, or a prefix such as `member.*` */
export const matchesAction = (mask: string, action: string): boolean =>
  mask.endsWith('.*') ? action.startsWith(mask.slice(0, -1)) : action === mask
