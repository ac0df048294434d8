import { isLive, wakePagesWrites } from '#shared/foundation/updates/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { NotificationEntity } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { idFloor, isId } from '#shared/kernel/ids.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { ReadState } from './entity.ts'
import { listNotifications, type Reader } from './list.ts'
import { countUnread, isIndexSettled, loadInbox, SETTLES, stateWrite } from './read-state.ts'
import type { MarkRead, UnreadView } from './schemas.ts'

/** Limit of ids kept as read individually. Beyond it, older notifications count as read. */
const KEPT = 1_000

/**
 * `POST /console/notifications/read`. Idempotent.
 * @throws `not_found` if `until` isn't one of the user's notifications
 */
export const markRead = (work: Work, reader: Reader, { ids, until }: MarkRead): Promise<UnreadView> =>
  retryOnConflict(async () => {
    const { state, updates } = await loadInbox(work, reader)
    const marked = await (ids ? withSome(work, reader, state, ids) : withAll(work, reader, state, until))
    const { ids: looked, unread, count, all } = await countUnread(work, reader, marked)
    const after: ReadState = {
      ...(all ? settledAt(work, marked, looked, unread) : marked),
      unread: count,
      counted_at: isIndexSettled(work, updates) ? (updates.notifications ?? 0) : -1,
      revision: state.revision + 1,
    }
    const view = { unread: count }
    const { workspace_id, user_id } = reader
    const woken = isLive(work, updates) ? await wakePagesWrites(work, { workspace_id, user_id }) : []
    await work.commit([stateWrite(state, after), ...woken], view)
    return view
  })

const withSome = async (work: Work, reader: Reader, state: ReadState, ids: readonly string[]): Promise<ReadState> => {
  const own = (await notificationsOfReader(work, reader, ids)).filter((id) => id > state.read_until)
  const read = [...new Set([...state.read, ...own])].sort()
  if (read.length <= KEPT) return { ...state, read }
  const [read_until = state.read_until] = read.slice(-KEPT - 1)
  return { ...state, read_until, read: read.slice(-KEPT) }
}

const withAll = async (work: Work, reader: Reader, state: ReadState, until: string | undefined): Promise<ReadState> => {
  const newest = until === undefined ? (await listNotifications(work, reader, { limit: 1 })).items[0]?.id : until
  if (until !== undefined && (await notificationsOfReader(work, reader, [until])).length === 0) {
    throw fail('not_found', { message: 'The notification sent as until doesn’t exist or isn’t yours.' })
  }
  return newest === undefined || newest <= state.read_until ? state : upTo(state, newest)
}

const upTo = (state: ReadState, read_until: string): ReadState => ({
  ...state,
  read_until,
  read: state.read.filter((id) => id > read_until),
})

/** Filters ids to notifications for the user or for everyone. */
const notificationsOfReader = async (
  { table }: Work,
  { workspace_id, user_id }: Reader,
  ids: readonly string[],
): Promise<string[]> => {
  const known = ids.filter((id) => isId('notification', id))
  const found = await table.getAll(known.map((id) => NotificationEntity.ref({ workspace_id, id })))
  return found.flatMap((record) => (record && (record.user_id ?? user_id) === user_id ? [record.id] : []))
}

/**
 * Moves `read_until` up to just before the oldest unread notification, so that fewer ids need to be kept. It leaves out
 * the last moments, because the list may not show the newest notifications yet.
 */
const settledAt = (
  { clock }: Work,
  state: ReadState,
  looked: readonly string[],
  unread: readonly string[],
): ReadState => {
  const shown = idFloor('notification', clock.now() - SETTLES)
  const oldest = unread.at(-1) ?? shown
  const below = looked.find((id) => id < oldest && id < shown)
  return below === undefined ? state : upTo(state, below)
}
