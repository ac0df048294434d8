import type { ReadState } from '../../entities/inbox.ts'
import {
  NOTIFICATION_LIFE,
  type Notification,
  NotificationEntity,
  notificationsOf,
} from '../../entities/notifications.ts'
import type { Member } from '../../entities/people.ts'
import type { Page } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

/** Whose notifications: those to the person, and those to everybody in the workspace. */
export type Reader = Pick<Member, 'workspace_id' | 'user_id' | 'joined_at'>

export const isRead = ({ read_until, read }: Pick<ReadState, 'read_until' | 'read'>, id: string): boolean =>
  id <= read_until || read.includes(id)

/**
 * A person's notifications, newest first: two lists, merged by their ids. One that is older than 90 days is over.
 * @param from ids that are smaller are left out
 */
export const notificationsFor = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { workspace_id, user_id }: Reader,
  options: { limit: number; after?: string | undefined; from?: string },
): Promise<Page<Notification>> => {
  const lists = await Promise.all(
    [user_id, undefined].map((to) => table.listed(NotificationEntity, notificationsOf(workspace_id, to), options)),
  )
  const oldest = clock.now() - NOTIFICATION_LIFE
  const merged = lists
    .flatMap(({ items }) => items)
    .filter(({ created_at }) => created_at > oldest)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  // Behind the end of a list that goes on, the other's are not yet next.
  const ends = lists.flatMap(({ next }) => (next === undefined ? [] : [next]))
  const end = ends.reduce<string | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined)
  const known = end === undefined ? merged : merged.filter(({ id }) => id >= end)
  const items = known.slice(0, options.limit)
  const more = end !== undefined || known.length > items.length
  return { items, next: more ? (items.at(-1)?.id ?? end) : undefined }
}

/** Pages that are read for one page of unread ones; whoever asks goes on from where it ended. */
const LOOKED_AT = 10

/** The same of what is unread. What everything before is read of is not looked at. */
export const unreadFor = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  state: ReadState,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<Notification>> => {
  const items: Notification[] = []
  let next = after
  for (let pages = 0; pages < LOOKED_AT; pages++) {
    const page = await notificationsFor(deps, reader, { limit, after: next, from: state.read_until })
    for (const notification of page.items) {
      if (isRead(state, notification.id)) continue
      if (items.length === limit) return { items, next: items.at(-1)?.id }
      items.push(notification)
    }
    next = page.next
    if (next === undefined) break
  }
  return { items, next }
}
