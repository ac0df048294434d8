import {
  addUpdates,
  type PersonUpdates,
  PersonUpdatesEntity,
  type Updates,
  UpdatesEntity,
} from '#shared/foundation/updates/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { either, lte, missing } from '#shared/table/expressions.ts'
import { type ReadState, ReadStateEntity } from './entity.ts'
import { listNotificationIds, type Reader } from './list.ts'

/** Limit of the unread count. */
const COUNTED = 100

/** Time until an index reliably shows a new notification. Counts made earlier aren't cached. */
export const SETTLES = 5 * SECOND

/** A user's read state, and the update counters of what they may see. */
export interface Inbox {
  state: ReadState
  updates: Updates
}

/** References to the three records of {@link loadInbox}, for a batch read. */
export const inboxRefs = ({ workspace_id, user_id }: Reader) =>
  [
    ReadStateEntity.ref({ workspace_id, user_id }),
    UpdatesEntity.ref({ workspace_id }),
    PersonUpdatesEntity.ref({ workspace_id, user_id }),
  ] as const

/** Builds an inbox. Notifications from before the user joined count as read. */
export const inboxFrom = (
  reader: Reader,
  kept: ReadState | undefined,
  shared: Updates | undefined,
  own: PersonUpdates | undefined,
): Inbox => {
  const { workspace_id, user_id, joined_at } = reader
  const joined = idFloor('notification', joined_at)
  const state = kept ?? { workspace_id, user_id, read_until: joined, read: [], unread: 0, counted_at: -1, revision: 0 }
  return {
    state: state.read_until < joined ? { ...state, read_until: joined, counted_at: -1 } : state,
    updates: addUpdates(workspace_id, shared, own),
  }
}

export const loadInbox = async ({ table }: Pick<Deps, 'table'>, reader: Reader): Promise<Inbox> =>
  inboxFrom(reader, ...(await table.getAll(inboxRefs(reader))))

/** Writes a new read state. Concurrent writes fail with `ConditionFailed`. */
export const stateWrite = (before: ReadState, after: ReadState): Write =>
  ReadStateEntity.replace(after, {
    where: { revision: before.revision === 0 ? either(missing, lte(0)) : before.revision },
  })

/**
 * Counts unread notifications up to the limit, reading keys only.
 * @returns `ids` of everything examined, newest first; `all` is true if no older ones remain
 */
export const countUnread = async (deps: Pick<Deps, 'table' | 'clock'>, reader: Reader, state: ReadState) => {
  const limit = COUNTED + state.read.length + 1
  const ids = await listNotificationIds(deps, reader, { limit: limit + 1, from: state.read_until })
  const all = ids.length <= limit
  const looked = ids.slice(0, limit)
  const read = new Set(state.read)
  const unread = looked.filter((id) => id > state.read_until && !read.has(id))
  return { ids: looked, unread, count: Math.min(unread.length, COUNTED), all }
}

/** True if a count made now can be cached until the next notification. */
export const isIndexSettled = ({ clock }: Pick<Deps, 'clock'>, updates: Updates): boolean =>
  clock.now() - (updates.notified_at ?? 0) > SETTLES

/**
 * Returns the number of unread notifications. It is cached until the workspace has a new notification.
 * @param afresh ignores the cache
 */
export const loadUnreadCount = async (
  deps: Pick<Work, 'table' | 'clock' | 'commit'>,
  reader: Reader,
  { state, updates }: Inbox,
  afresh = false,
): Promise<number> => {
  const at = updates.notifications ?? 0
  if (!afresh && state.counted_at === at) return state.unread
  const { count } = await countUnread(deps, reader, state)
  const counted = { ...state, unread: count, counted_at: isIndexSettled(deps, updates) ? at : -1 }
  if (counted.counted_at === state.counted_at && count === state.unread) return count
  // Skipped if the user marked something as read at the same time, which counted as well.
  await ifUnchanged(deps.commit([stateWrite(state, counted)]))
  return count
}
