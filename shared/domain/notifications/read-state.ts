import { type ReadState, ReadStateEntity } from '../../entities/inbox.ts'
import { type Updates, UpdatesEntity } from '../../entities/updates.ts'
import { SECOND } from '../../kernel/clock.ts'
import { idFloor } from '../../kernel/ids.ts'
import { ifUnchanged, type Write } from '../../table/entity.ts'
import { either, lte, missing } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'
import { notificationIdsFor, type Reader } from './list.ts'

/** As far as unread ones are counted. */
const COUNTED = 100

/** An index shows a new notification after a moment; a count of before that is not kept. */
export const SETTLES = 5 * SECOND

/** What a person has read, and what the workspace's record of updates says. */
export interface Inbox {
  state: ReadState
  updates: Updates | undefined
}

/** The two records that {@link inboxOf} is made from, for a batch. */
export const inboxRefs = ({ workspace_id, user_id }: Reader) =>
  [
    { entity: ReadStateEntity, key: ReadStateEntity.key({ workspace_id, user_id }) },
    { entity: UpdatesEntity, key: UpdatesEntity.key({ workspace_id }) },
  ] as const

/** Whoever joins has read what was told before. */
export const inboxFrom = (reader: Reader, kept: ReadState | undefined, updates: Updates | undefined): Inbox => {
  const { workspace_id, user_id, joined_at } = reader
  const joined = idFloor('notification', joined_at)
  const state = kept ?? { workspace_id, user_id, read_until: joined, read: [], unread: 0, counted_at: -1, revision: 0 }
  return { state: state.read_until < joined ? { ...state, read_until: joined, counted_at: -1 } : state, updates }
}

export const inboxOf = async ({ table }: Pick<Deps, 'table'>, reader: Reader): Promise<Inbox> => {
  const [state, updates] = await table.getAll(inboxRefs(reader))
  return inboxFrom(reader, state, updates)
}

/** The write of a new state: the first one, where there is none or it was only counted. Of two at once one fails with `ConditionFailed`. */
export const stateWrite = (before: ReadState, after: ReadState): Write =>
  ReadStateEntity.replace(after, {
    where: { revision: before.revision === 0 ? either(missing, lte(0)) : before.revision },
  })

/**
 * What is unread now, from keys alone: ids, newest first as far as it is counted.
 * @returns `ids` what was looked at, read or not; `all` when nothing lies behind
 */
export const countUnread = async (deps: Pick<Deps, 'table' | 'clock'>, reader: Reader, state: ReadState) => {
  const limit = COUNTED + state.read.length + 1
  const ids = await notificationIdsFor(deps, reader, { limit: limit + 1, from: state.read_until })
  const all = ids.length <= limit
  const looked = ids.slice(0, limit)
  const read = new Set(state.read)
  const unread = looked.filter((id) => id > state.read_until && !read.has(id))
  return { ids: looked, unread, count: Math.min(unread.length, COUNTED), all }
}

/** May a count of now be kept until the next notification? */
export const settled = ({ clock }: Pick<Deps, 'clock'>, updates: Updates | undefined): boolean =>
  clock.now() - (updates?.notified_at ?? 0) > SETTLES

/**
 * How many are unread: the kept number, for as long as the workspace has no new notification; else counted afresh and kept.
 * @param afresh count whatever is kept
 */
export const unreadOf = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  { state, updates }: Inbox,
  afresh = false,
): Promise<number> => {
  const at = updates?.notifications ?? 0
  if (!afresh && state.counted_at === at) return state.unread
  const { count } = await countUnread(deps, reader, state)
  const counted = { ...state, unread: count, counted_at: settled(deps, updates) ? at : -1 }
  if (counted.counted_at === state.counted_at && count === state.unread) return count
  // Unless they read something at the same moment; that counted, too.
  await ifUnchanged(deps.table.transact([stateWrite(state, counted)]))
  return count
}
