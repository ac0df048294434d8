import type { ReadState } from '../../entities/inbox.ts'
import { NotificationEntity } from '../../entities/notifications.ts'
import { fail } from '../../kernel/errors.ts'
import { idFloor, isId } from '../../kernel/ids.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { notificationsFor, type Reader } from './list.ts'
import { countUnread, inboxOf, SETTLES, settled, stateWrite } from './read-state.ts'
import type { MarkRead, UnreadView } from './schemas.ts'

/** Read one by one after an unread one: whoever read so many newer ones has seen the older ones, too. */
const KEPT = 1_000

/**
 * `POST /console/notifications/read`. Reading again changes nothing.
 * @throws `not_found` for an `until` that is none of the person's
 */
export const markRead = (work: Work, reader: Reader, { ids, until }: MarkRead): Promise<UnreadView> =>
  tryAgain(async () => {
    const { state, updates } = await inboxOf(work, reader)
    const marked = await (ids ? withSome(work, reader, state, ids) : withAll(work, reader, state, until))
    const { ids: looked, unread, count, all } = await countUnread(work, reader, marked)
    const after: ReadState = {
      ...(all ? settledAt(work, marked, looked, unread) : marked),
      unread: count,
      counted_at: settled(work, updates) ? (updates?.notifications ?? 0) : -1,
      revision: state.revision + 1,
    }
    const view = { unread: count }
    await work.commit([stateWrite(state, after)], view)
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
  const newest = until === undefined ? (await notificationsFor(work, reader, { limit: 1 })).items[0]?.id : until
  if (until !== undefined && (await notificationsOfReader(work, reader, [until])).length === 0) {
    throw fail('not_found', { message: 'until is none of your notifications.' })
  }
  return newest === undefined || newest <= state.read_until ? state : upTo(state, newest)
}

const upTo = (state: ReadState, read_until: string): ReadState => ({
  ...state,
  read_until,
  read: state.read.filter((id) => id > read_until),
})

/** Of these ids those of the person's own notifications, and of those to everybody. */
const notificationsOfReader = async (
  { table }: Work,
  { workspace_id, user_id }: Reader,
  ids: readonly string[],
): Promise<string[]> => {
  const known = ids.filter((id) => isId('notification', id))
  const found = await table.getAll(
    known.map((id) => ({ entity: NotificationEntity, key: NotificationEntity.key({ workspace_id, id }) })),
  )
  return found.flatMap((one) => (one && (one.user_id ?? user_id) === user_id ? [one.id] : []))
}

/**
 * Moves the line up to the oldest unread one, so that what was read one by one need not be kept. Not over the last
 * moments: one that the list does not show yet may lie there.
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
