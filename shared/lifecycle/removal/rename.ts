import { orchestratorId } from '#shared/access/orchestrator/index.ts'
import { FeedEntryEntity } from '#shared/delivery/feed/index.ts'
import { ENTITIES } from '#shared/entities.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type User, UserEntity, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { ReviewEntity, WorkspaceReviewEntity } from '#shared/marketplace/reviews/index.ts'
import { listEverythingIn } from '#shared/table/lists.ts'
import { ChainMarkEntity, RunEntity, StepEntity, WorkspaceRunEntity } from '#shared/work/runs/index.ts'
import { type Budget, spendBudget } from './budget.ts'
import { clearPrivateTasks } from './clear-tasks.ts'
import { namesIn, partitionsOf } from './records.ts'
import { renameInFeed } from './rename-events.ts'
import { renameInRecord } from './rename-record.ts'
import { renameInRuns } from './rename-runs.ts'

const PAGE = 50

/** Places searched in parallel. */
const AT_ONCE = 16

/** A partition to search, and the sort key after which to continue. */
type Place = NonNullable<User['renaming']>[number]

/**
 * Searches everything that the workspaces have, in the same way as the removal of a workspace, and replaces the
 * person's name. The position is stored with the person.
 * @throws {Paused} when the budget is used up
 */
export const renamePerson = async (
  work: Work,
  user: User,
  workspaces: readonly string[],
  budget: Budget,
): Promise<void> => {
  // Places found last are searched first, so that few places are open at any time.
  const open: Place[] = [...(user.renaming ?? workspaces.flatMap((id) => rootsOf(id, user)))]
  while (open.length > 0) {
    const batch = open.splice(-AT_ONCE)
    const results = await Promise.allSettled(batch.map((place) => searchPlace(work, user, place, budget)))
    open.push(...results.flatMap((result, i) => (result.status === 'fulfilled' ? result.value : (batch[i] as Place))))
    const failed = results.find((result) => result.status === 'rejected')
    if (!failed) continue
    await work.table.transact([UserEntity.update(user, { set: { renaming: open } }, { where: { status: 'deleted' } })])
    throw failed.reason
  }
}

/** Returns the starting places of a workspace. The person's own orchestrator has no record that leads to its marks. */
const rootsOf = (workspaceId: string, user: User): Place[] => [
  { partition: ChainMarkEntity.partition({ installation_id: orchestratorId(workspaceId, user.id) }) },
  { partition: WorkspaceEntity.partition({ id: workspaceId }) },
]

/**
 * Searches a place.
 * @returns the places to search next
 */
const searchPlace = async (work: Work, user: User, place: Place, budget: Budget): Promise<Place[]> => {
  spendBudget(budget)
  const { partition } = place
  const { next, found } = FEED.test(partition)
    ? await inFeed(work, user, place, budget)
    : await inPartition(work, user, place, budget)
  const on = next === undefined ? [] : [{ partition, after: next }]
  return [...on, ...[...new Set(found)].map((one) => ({ partition: one }))]
}

const inPartition = async (work: Work, user: User, { partition, after }: Place, budget: Budget) => {
  const page = await listEverythingIn(work.table, partition, { limit: PAGE, after })
  for (const { entity, key, item } of page.items) await renameInRecord(work, entity, key, item, user, budget)
  await clearPrivateTasks(work, page.items, user.id, budget)
  const runs = page.items.flatMap(({ entity, item }) => (entity === WorkspaceRunEntity.name ? [item as never] : []))
  await renameInRuns(work, runs, user, budget)
  const found = page.items.flatMap(({ entity, item }) => leadsTo(entity, item, user))
  return { next: page.next, found: found.filter(mayHoldName) }
}

const FEED = /^FEED#/

const inFeed = async (work: Work, user: User, { partition, after }: Place, budget: Budget) => {
  const installation_id = partition.replace(FEED, '')
  const page = await work.table.query(FeedEntryEntity, { installation_id }, { limit: PAGE, after, ascending: true })
  await renameInFeed(work, page.items, user, budget)
  return { next: page.next, found: [] }
}

/**
 * Returns the partitions that may contain a name. Runs lead nowhere: their steps are found by the runs' places in the
 * workspace, which the orchestrator's runs also have. Each partition is therefore read once, however many runs there
 * are.
 */
const leadsTo = (entity: string, item: Record<string, unknown>, { id }: User): string[] => {
  const it = item as never
  if (entity === RunEntity.name) return []
  // The data of the person's own runs is deleted with them.
  if (entity === WorkspaceRunEntity.name) return item.private_to === id ? [] : [StepEntity.partition(it)]
  if (entity === WorkspaceReviewEntity.name) return [ReviewEntity.partition({ id: String(item.review_id) })]
  return partitionsOf(entity, item)
}

/** Events are found through their feeds, which hold only their ids. */
const mayHoldName = (partition: string): boolean => FEED.test(partition) || WITH_NAMES.has(kindOf(partition))

const kindOf = (partition: string): string => partition.split('#')[0] ?? ''

const WITH_NAMES = new Set(
  [...ENTITIES.values()].flatMap(({ name, pk }) => (namesIn(name).length > 0 ? [kindOf(pk)] : [])),
)
