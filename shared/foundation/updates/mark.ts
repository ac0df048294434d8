import { HOUR } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { emitEvent } from '../outbox/index.ts'
import type { Deps, Work, WorkerWork } from '../work/work.ts'
import { PersonUpdatesEntity, TOPICS, type Topic, type Updates, UpdatesEntity } from './entity.ts'
import type { UpdatesEventType } from './events.ts'

/** Audience of a change: everyone in a workspace, or one person only. */
export interface Viewers {
  workspace_id: string
  /** Only person who may see it. */
  user_id?: string | undefined
}

/**
 * Marks topics as changed. Call it once the change can be read. Marking twice only makes a page load once more, so
 * repeated workers may mark again. Uses plain additions to one item, which don't conflict as transactions would.
 */
const markChanged = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { workspace_id, user_id }: Viewers,
  topics: readonly Topic[],
): Promise<void> => {
  const notified = topics.includes('notifications') && { notified_at: clock.now() }
  const add = Object.fromEntries(topics.map((topic) => [topic, 1]))
  await table.transact([
    user_id === undefined
      ? UpdatesEntity.upsert({ workspace_id }, { set: { workspace_id, ...notified }, add })
      : PersonUpdatesEntity.upsert({ workspace_id, user_id }, { set: { workspace_id, user_id, ...notified }, add }),
  ])
}

/** Time for which changes are counted after the counters were read, and the remaining time at which a read moves it. */
const WATCHED = 24 * HOUR
const RENEWED = 12 * HOUR

/**
 * Starts to count changes of a workspace. If they weren't until now, every topic counts as changed, so that a page
 * with older numbers loads everything. Notifications are always counted.
 * @param read the counters as they were just read
 * @returns the counters
 */
export const watchUpdates = async (
  { table, clock, commit }: Pick<Work, 'table' | 'clock' | 'commit'>,
  workspace_id: string,
  read: Updates | undefined,
): Promise<Updates | undefined> => {
  const now = clock.now()
  const left = (read?.watched_until ?? 0) - now
  if (left > RENEWED) return read
  const add = left > 0 ? {} : Object.fromEntries(TOPICS.map((topic) => [topic, topic === 'notifications' ? 0 : 1]))
  await commit([UpdatesEntity.upsert({ workspace_id }, { set: { workspace_id, watched_until: now + WATCHED }, add })])
  return table.get(UpdatesEntity, { workspace_id })
}

/** Returns true if somebody may hold numbers of the workspace's counters. */
export const isWatched = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  workspace_id: string,
): Promise<boolean> => {
  const updates = await table.get(UpdatesEntity, { workspace_id })
  return (updates?.watched_until ?? 0) > clock.now()
}

/**
 * Marks topics as changed and wakes the pages that show them. Both may happen again. Nothing is marked while no page watches:
 * a page that starts to watch loads everything.
 * @param watched whether somebody watches, if that was read after the change
 */
export const announceChange = async (
  work: WorkerWork,
  viewers: Viewers,
  topics: readonly Topic[],
  watched?: Promise<boolean>,
): Promise<void> => {
  if (topics.length === 0) return
  if (!topics.includes('notifications') && !(await (watched ?? isWatched(work, viewers.workspace_id)))) return
  await markChanged(work, viewers, topics)
  await wakePages(work, viewers)
}

/** Wakes the worker of the workspace's open pages, if there are any: it sends each its counters, and closes one without access. */
export const wakePages = async ({ table, clock, queues }: WorkerWork, viewers: Viewers): Promise<void> => {
  const { workspace_id } = viewers
  const updates = await table.get(UpdatesEntity, { workspace_id })
  if (!isLive({ clock }, updates)) return
  await queues.send('live', [{ body: viewers, group: workspace_id }])
}

/** Returns true if a page may have a live connection to the workspace. */
export const isLive = ({ clock }: Pick<Deps, 'clock'>, updates: Updates | undefined): boolean =>
  (updates?.live_until ?? 0) > clock.now()

/**
 * Returns the write that wakes a person's pages in a workspace, for the transaction of a change. Empty if no page of the
 * workspace has a live connection.
 */
export const wakePagesWrites = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { workspace_id, user_id }: Required<Viewers>,
): Promise<Write[]> => {
  const updates = await table.get(UpdatesEntity, { workspace_id })
  if (!isLive({ clock }, updates)) return []
  return [emitEvent<UpdatesEventType>(clock, { type: 'pages.changed', workspace_id, private_to: user_id, data: {} })]
}

/** Adds a person's counters to the workspace's. Both only grow, so a sum stays the same only if nothing changed. */
export const addUpdates = (
  workspace_id: string,
  shared: Updates | undefined,
  own: Omit<Updates, 'workspace_id'> | undefined,
): Updates => ({
  workspace_id,
  ...Object.fromEntries(TOPICS.map((topic) => [topic, (shared?.[topic] ?? 0) + (own?.[topic] ?? 0)])),
  notified_at: Math.max(shared?.notified_at ?? 0, own?.notified_at ?? 0),
  live_until: shared?.live_until,
})

/** Returns the topics that an event of this type changes. */
export const topicsOf = (type: string): Topic[] => {
  const [kind] = type.split('.')
  switch (kind) {
    case 'run':
      // A run that ends voids its pending approval.
      return type === 'run.created' ? ['runs'] : ['runs', 'approvals']
    case 'approval':
      return ['runs', 'approvals']
    case 'task':
      return ['tasks']
    case 'message':
    case 'chat':
      return ['messages']
    case 'messenger':
      // An update of a Business connection doesn't belong to a workspace yet.
      return type === 'messenger.update' ? [] : ['messenger']
    case 'notification':
      return ['notifications']
    case 'installation':
      return ['installations']
    default:
      return []
  }
}
