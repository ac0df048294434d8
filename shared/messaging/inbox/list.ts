import type { Deps } from '#shared/foundation/work/index.ts'
import {
  NOTIFICATION_LIFE,
  type Notification,
  NotificationEntity,
  notificationsOf,
} from '#shared/identity/notifications/index.ts'
import type { Member } from '#shared/identity/people/index.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { firstKeys, mergedPage } from '#shared/table/lists.ts'
import type { Page } from '#shared/table/table.ts'
import type { ReadState } from './entity.ts'

/** User whose notifications are read: their own, and those for everyone in the workspace. */
export type Reader = Pick<Member, 'workspace_id' | 'user_id' | 'joined_at'>

export const isRead = ({ read_until, read }: Pick<ReadState, 'read_until' | 'read'>, id: string): boolean =>
  id <= read_until || read.includes(id)

/** The user's own list and the list for everyone, both sorted by id. */
const listsOf = ({ workspace_id, user_id }: Reader) =>
  [user_id, undefined].map((to) => ({ list: notificationsOf(workspace_id, to) }))

/** Excludes notifications older than 90 days, which the store may not have removed yet. */
const notOver = ({ clock }: Pick<Deps, 'clock'>, from = ''): string => {
  const oldest = idFloor('notification', Math.max(0, clock.now() - NOTIFICATION_LIFE + 1))
  return from > oldest ? from : oldest
}

/**
 * Returns a page of the user's notifications, newest first, merged from two lists. Only the page's records are read in
 * full; the merge reads keys.
 * @param from smallest id to include
 */
export const listNotifications = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  options: { limit: number; after?: string | undefined; from?: string },
): Promise<Page<Notification>> =>
  mergedPage(deps.table, NotificationEntity, listsOf(reader), { ...options, from: notOver(deps, options.from) })

/** Returns at most `limit` ids of the same notifications. It reads keys only, for counting. */
export const listNotificationIds = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  { limit, from }: { limit: number; from: string },
): Promise<string[]> => {
  const keys = await firstKeys(deps.table, listsOf(reader), limit, notOver(deps, from))
  return keys.map(({ sort }) => sort)
}

/** Pages read at most for one page of unread notifications. The cursor continues from the last one. */
const LOOKED_AT = 10

/** Returns a page of unread notifications. It skips everything up to `read_until`. */
export const listUnread = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  state: ReadState,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Page<Notification>> => {
  const items: Notification[] = []
  let next = after
  for (let pages = 0; pages < LOOKED_AT; pages++) {
    const page = await listNotifications(deps, reader, { limit, after: next, from: state.read_until })
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
