import { matchesMask, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { RESPONSE_BYTES } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import type { ScopeHolder } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Page } from '#shared/table/table.ts'
import { canReadEvent } from '../catalogue/readable.ts'
import { loadLatest, ownNumberOf } from './append.ts'
import {
  EVENTS_PER_ENTRY,
  eventsOf,
  type FeedEntry,
  FeedEntryEntity,
  FeedMarkEntity,
  lastNumberOf,
  type NumberedEvent,
} from './entity.ts'

type Reader = Pick<Deps, 'table' | 'clock'>

export interface FeedReader extends ScopeHolder {
  installation: { id: string }
  /** The person who views the feed, if any. Events of other people's conversations are left out. */
  viewer?: string | undefined
}

export interface FeedQuery {
  /** Id of the last event that the poller has. */
  since?: string | undefined
  /** Type masks; all types if omitted. */
  types?: readonly string[] | undefined
}

/** Feed entries examined per response, so that a rare type costs many short reads instead of one unbounded read. */
const LOOKED_AT = 1_000

/**
 * Returns a page of an installation's feed, oldest first. Each number is created after the one before it. Continuing
 * from a number therefore never skips an event, even during concurrent writes
 * (contract/events-and-webhooks.md#polling). Leaves out events that the reader may no longer read.
 * @param after the number that the previous page ended with; takes precedence over `since`
 * @returns `next`, the number to continue from, while more entries exist; the page itself may be empty for a rare type,
 * a viewer, or a reader that may read few of the types
 * @throws `bad_request` for a `since` that is not, or no longer, in the feed
 */
export const readFeed = async (
  deps: Reader,
  reader: FeedReader,
  { since, types }: FeedQuery,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<OutboxEvent>> => {
  const { id: installationId } = reader.installation
  const readable = new Map<string, boolean>()
  const mayRead = (type: string): boolean => {
    const known = readable.get(type) ?? canReadEvent(type, reader)
    readable.set(type, known)
    return known
  }
  const from = after === undefined ? await startOf(deps, installationId, since) : Number(after)
  const found: NumberedEvent[] = []
  let last = from
  let more = true
  for (let looked = 0; more && found.length < limit && looked < LOOKED_AT; ) {
    // A rare type needs more of them.
    const page = await eventsAfter(deps, installationId, last, looked > 0 ? 200 : limit)
    more = page.next !== undefined
    for (const entry of page.items) {
      if (found.length === limit) {
        more = true
        break
      }
      looked += 1
      last = entry.n
      if (!isKept(deps, entry.created_at) || (types && !matchesMask(types, entry.type)) || !mayRead(entry.type))
        continue
      found.push(entry)
    }
  }
  const { items, end } = await load(deps, found, reader.viewer)
  if (end !== undefined) return { items, next: String(end) }
  return { items, next: more ? String(last) : undefined }
}

const isKept = ({ clock }: Reader, createdAt: number): boolean => createdAt + LIMITS.eventLife > clock.now()

/** An entry holds several numbers under its first, so the one before may hold the next number. */
const eventsAfter = async ({ table }: Reader, installation_id: string, n: number, limit: number) => {
  const from = FeedEntryEntity.key({ installation_id, n: Math.max(0, n + 2 - EVENTS_PER_ENTRY) }).sk
  const page = await table.query(
    FeedEntryEntity,
    { installation_id },
    { limit: limit + EVENTS_PER_ENTRY, ascending: true, from },
  )
  return { items: page.items.flatMap(eventsOf).filter((event) => event.n > n), next: page.next }
}

/** Returns the last entry that starts at or before a number. */
const entryAt = async ({ table }: Reader, installation_id: string, n: number): Promise<FeedEntry | undefined> => {
  const to = FeedEntryEntity.key({ installation_id, n }).sk
  const { items } = await table.query(FeedEntryEntity, { installation_id }, { limit: 1, to })
  return items[0]
}

const LAST = 999_999_999_999

const startOf = async (deps: Reader, installation_id: string, since: string | undefined): Promise<number> => {
  if (since === undefined) return firstKept(deps, installation_id)
  const found = isId('event', since) ? await findInFeed(deps, installation_id, since) : undefined
  if (found && isKept(deps, found.created_at)) return found.n
  throw fail('bad_request', {
    message: 'since is unknown or expired: no event with this id is in the installation’s feed of the last 30 days.',
    fix: 'Send the id of the last event that you received, or omit since to start with the oldest stored event.',
    details: { fields: { since: ['unknown or expired'] } },
  })
}

/** Finds an event's number. Until its number is recorded, it is in one of the last entries. */
const findInFeed = async (
  deps: Reader,
  installation_id: string,
  event_id: string,
): Promise<Pick<NumberedEvent, 'n' | 'created_at'> | undefined> => {
  const read = () =>
    deps.table.getAll([FeedMarkEntity.ref({ installation_id, event_id }), OutboxEntity.ref({ id: event_id })] as const)
  const numberOf = ([mark, event]: Awaited<ReturnType<typeof read>>) => {
    const n = ownNumberOf(event, installation_id)
    return mark ?? (event && n !== undefined ? { n, created_at: event.created_at } : undefined)
  }
  // A number never changes, and most events have one of their own.
  const hasNumber = (event: OutboxEvent) => ownNumberOf(event, installation_id) !== undefined
  const [own] = await deps.table.getAllUnchanging([OutboxEntity.ref({ id: event_id })], hasNumber)
  if (own && hasNumber(own)) return numberOf([undefined, own])
  const first = await read()
  const known = numberOf(first)
  if (known || !first[1]) return known
  const latest = (await loadLatest(deps.table, installation_id)).flatMap(eventsOf)
  // It is recorded before it leaves the last entries.
  return latest.find((event) => event.event_id === event_id) ?? numberOf(await read())
}

/**
 * Returns the number before the oldest event that is still visible. Expired entries disappear late (DynamoDB's TTL
 * takes days), so a binary search finds the boundary.
 */
const firstKept = async (deps: Reader, installation_id: string): Promise<number> => {
  const [[oldest], last] = await Promise.all([
    eventsAfter(deps, installation_id, 0, 1).then(({ items }) => items),
    entryAt(deps, installation_id, LAST),
  ])
  if (!oldest || !last || isKept(deps, oldest.created_at)) return 0
  let [expired, kept] = [oldest.n, lastNumberOf(last) + 1]
  while (kept - expired > 1) {
    const middle = Math.floor((expired + kept) / 2)
    const entry = await entryAt(deps, installation_id, middle)
    const event = entry && eventsOf(entry).find(({ n }) => n === middle)
    if (event && isKept(deps, event.created_at)) kept = middle
    else expired = middle
  }
  return expired
}

/**
 * Loads the events of as many entries as fit into a response.
 * @returns `end`: the number of the last event, if some did not fit
 */
const load = async (
  { table }: Reader,
  entries: readonly NumberedEvent[],
  viewer: string | undefined,
): Promise<{ items: OutboxEvent[]; end: number | undefined }> => {
  const elsewhere = entries.filter(({ copy }) => copy === undefined)
  const read = await table.getAllUnchanging(elsewhere.map(({ event_id }) => OutboxEntity.ref({ id: event_id })))
  const records = new Map(elsewhere.map(({ event_id }, i) => [event_id, read[i]]))
  const events = entries.map(({ event_id, type, created_at, copy }) =>
    copy ? { id: event_id, type, created_at, ...copy } : records.get(event_id),
  )
  const items: OutboxEvent[] = []
  let bytes = 0
  for (const [i, event] of events.entries()) {
    if (!event || !isVisibleTo(viewer, event)) continue
    bytes += Buffer.byteLength(event.data)
    if (bytes > RESPONSE_BYTES && items.length > 0) return { items, end: entries[i - 1]?.n }
    items.push(event)
  }
  return { items, end: undefined }
}
