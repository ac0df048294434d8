import type { ReadState } from '../../entities/inbox.ts'
import {
  NOTIFICATION_LIFE,
  type Notification,
  NotificationEntity,
  notificationsOf,
} from '../../entities/notifications.ts'
import type { Member } from '../../entities/people.ts'
import { idFloor } from '../../kernel/ids.ts'
import { firstKeys, mergedPage } from '../../table/lists.ts'
import type { Page } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

/** Whose notifications: those to the person, and those to everybody in the workspace. */
export type Reader = Pick<Member, 'workspace_id' | 'user_id' | 'joined_at'>

export const isRead = ({ read_until, read }: Pick<ReadState, 'read_until' | 'read'>, id: string): boolean =>
  id <= read_until || read.includes(id)

/** Those to the person, and those to everybody: both sorted by id. */
const listsOf = ({ workspace_id, user_id }: Reader) =>
  [user_id, undefined].map((to) => ({ list: notificationsOf(workspace_id, to) }))

/** One that is older than 90 days is over, whether or not the store has removed it. */
const notOver = ({ clock }: Pick<Deps, 'clock'>, from = ''): string => {
  const oldest = idFloor('notification', Math.max(0, clock.now() - NOTIFICATION_LIFE + 1))
  return from > oldest ? from : oldest
}

/**
 * A person's notifications, newest first: two lists, merged by their ids. Those of the page are read, and of the others keys.
 * @param from ids that are smaller are left out
 */
export const notificationsFor = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  options: { limit: number; after?: string | undefined; from?: string },
): Promise<Page<Notification>> =>
  mergedPage(deps.table, NotificationEntity, listsOf(reader), { ...options, from: notOver(deps, options.from) })

/** The ids of the same, of which nothing is read but keys: for counting. @returns `limit` at most */
export const notificationIdsFor = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  { limit, from }: { limit: number; from: string },
): Promise<string[]> => {
  const keys = await firstKeys(deps.table, listsOf(reader), limit, notOver(deps, from))
  return keys.map(({ sort }) => sort)
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
