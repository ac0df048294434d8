import {
  FeedEntryEntity,
  FeedHeadEntity,
  FeedMarkEntity,
  OutboxEntity,
  type OutboxEvent,
} from '../../entities/events.ts'
import { matches } from '../../events/catalogue.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Page } from '../../table/table.ts'
import { ANSWER_BYTES } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { shownTo } from '../shown-to.ts'

type Reader = Pick<Deps, 'table' | 'clock'>

export interface FeedQuery {
  /** Id of the last event that the poller has. */
  since?: string | undefined
  /** Masks; all types without. */
  types?: readonly string[] | undefined
  /** The person who looks, where one does: what belongs to the chats of others is left out. */
  viewer?: string | undefined
}

/** Feed entries looked at for one answer, so that a rare type costs many short reads instead of one without end. */
const LOOKED_AT = 1_000

/**
 * A page of an installation's feed, oldest first. Numbers have no gap and are given in one transaction with the entry, so
 * reading on from a number never skips an event, whatever writes at the same time (decisions §6).
 * @param after the number that the page before ended with; it goes before `since`
 * @returns `next`, the number to go on from, while there is more to look at; with a rare type, or a viewer, the page itself
 *   may be empty
 * @throws `bad_request` for a `since` that is not, or not any more, in the feed
 */
export const readFeed = async (
  deps: Reader,
  installationId: string,
  { since, types, viewer }: FeedQuery,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<OutboxEvent>> => {
  const from = after === undefined ? await startOf(deps, installationId, since) : Number(after)
  const found: { n: number; event_id: string }[] = []
  let last = from
  let more = true
  for (let looked = 0; more && found.length < limit && looked < LOOKED_AT; ) {
    const page = await entriesAfter(deps, installationId, last, types ? 200 : limit)
    more = page.next !== undefined
    for (const entry of page.items) {
      if (found.length === limit) {
        more = true
        break
      }
      looked += 1
      last = entry.n
      if (!isKept(deps, entry.created_at) || (types && !matches(types, entry.type))) continue
      found.push(entry)
    }
  }
  const { items, end } = await load(deps, found, viewer)
  if (end !== undefined) return { items, next: String(end) }
  return { items, next: more ? String(last) : undefined }
}

const isKept = ({ clock }: Reader, createdAt: number): boolean => createdAt + LIMITS.eventLife > clock.now()

const entriesAfter = ({ table }: Reader, installation_id: string, n: number, limit: number) =>
  table.query(
    FeedEntryEntity,
    { installation_id },
    { limit, ascending: true, after: FeedEntryEntity.key({ installation_id, n }).sk },
  )

const startOf = async (deps: Reader, installation_id: string, since: string | undefined): Promise<number> => {
  if (since === undefined) return firstKept(deps, installation_id)
  const mark = isId('event', since)
    ? await deps.table.get(FeedMarkEntity, { installation_id, event_id: since })
    : undefined
  if (mark && isKept(deps, mark.created_at)) return mark.n
  throw fail('bad_request', {
    message: 'since is unknown or expired: no event with this id is in the installation’s feed of the last 30 days.',
    fix: 'Send the id of the last event that you received, or poll without since to begin with the oldest event kept.',
    details: { fields: { since: ['unknown or expired'] } },
  })
}

/**
 * The number before the oldest event that is still shown. Expired entries vanish late (DynamoDB's TTL takes days), so the
 * boundary is searched for by halves instead of reading over them.
 */
const firstKept = async (deps: Reader, installation_id: string): Promise<number> => {
  const [[oldest], head] = await Promise.all([
    entriesAfter(deps, installation_id, 0, 1).then(({ items }) => items),
    deps.table.get(FeedHeadEntity, { installation_id }),
  ])
  if (!oldest || !head || isKept(deps, oldest.created_at)) return 0
  let [expired, kept] = [oldest.n, head.n + 1]
  while (kept - expired > 1) {
    const middle = Math.floor((expired + kept) / 2)
    const entry = await deps.table.get(FeedEntryEntity, { installation_id, n: middle })
    if (entry && isKept(deps, entry.created_at)) kept = middle
    else expired = middle
  }
  return expired
}

/** The events of the entries, as many as fit into an answer. @returns `end`: the number of the last one, when some did not */
const load = async (
  { table }: Reader,
  entries: { n: number; event_id: string }[],
  viewer: string | undefined,
): Promise<{ items: OutboxEvent[]; end: number | undefined }> => {
  const events = await table.getAll(
    entries.map(({ event_id }) => ({ entity: OutboxEntity, key: OutboxEntity.key({ id: event_id }) })),
  )
  const items: OutboxEvent[] = []
  let bytes = 0
  for (const [i, event] of events.entries()) {
    if (!event || !shownTo(viewer, event)) continue
    bytes += Buffer.byteLength(event.data)
    if (bytes > ANSWER_BYTES && items.length > 0) return { items, end: entries[i - 1]?.n }
    items.push(event)
  }
  return { items, end: undefined }
}
