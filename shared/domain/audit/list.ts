import { AuditEntity, type AuditEntry } from '../../entities/platform.ts'
import { idFloor } from '../../kernel/ids.ts'
import type { Page } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import { namesOf } from './names.ts'
import type { AuditFilter, Names } from './schemas.ts'

/** Entries looked at for one answer, so that a rare action costs many short reads instead of one without end. */
const LOOKED_AT = 1_000
const STEP = 200

export interface NamedEntry {
  entry: AuditEntry
  names: Names
}

/**
 * A workspace's audit, newest first. The time bounds are bounds of the range that is read; what else narrows it is looked for
 * among so many entries, and with a rare one the page itself may be short, or empty, and go on.
 */
export const listAudit = async (
  deps: Pick<Deps, 'table'>,
  scope: string,
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
    for (const entry of page.items) {
      if (found.length === limit) {
        more = true
        break
      }
      looked += 1
      at = AuditEntity.key(entry).sk
      if (fits(entry, filter)) found.push(entry)
    }
  }
  const names = await namesOf(deps, scope, found)
  return { items: found.map((entry) => ({ entry, names })), next: more ? at : undefined }
}

/** Ids begin with 1970. */
const key = (ms: number): string => AuditEntity.key({ scope: '-', id: idFloor('audit', Math.max(0, ms)) }).sk

const bounds = ({ since, until }: AuditFilter) => ({
  ...(since !== undefined && { from: key(Date.parse(since)) }),
  ...(until !== undefined && { to: key(Date.parse(until)) }),
})

const fits = (entry: AuditEntry, { action, actor, subject }: AuditFilter): boolean =>
  (action === undefined || actionFits(action, entry.action)) &&
  (actor === undefined || entry.actor.id === actor) &&
  (subject === undefined || entry.target.id === subject)

/** @param mask an action, or one such as `member.*` */
export const actionFits = (mask: string, action: string): boolean =>
  mask.endsWith('.*') ? action.startsWith(mask.slice(0, -1)) : action === mask
