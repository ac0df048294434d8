import { FeedEntryEntity } from '../../entities/events.ts'
import { type User, UserEntity, WorkspaceEntity } from '../../entities/people.ts'
import { ReviewEntity, WorkspaceReviewEntity } from '../../entities/reviews.ts'
import { ChainMarkEntity, RunEntity, StepEntity, WorkspaceRunEntity } from '../../entities/runs.ts'
import { everythingIn } from '../../table/lists.ts'
import type { Work } from '../deps.ts'
import { orchestratorId } from '../orchestrator/principal.ts'
import { type Budget, spend } from './budget.ts'
import { FATES } from './fates.ts'
import { renameInFeed } from './rename-events.ts'
import { renameIn } from './rename-record.ts'
import { renameInRuns } from './rename-runs.ts'

const PAGE = 50
/** Places looked through at the same time. */
const AT_ONCE = 16

/** A partition to look through, and the sort key after which to go on. */
type Place = NonNullable<User['renaming']>[number]

/**
 * Goes through all that the workspaces have, as the removal of a workspace would, and puts another name in place of the person's.
 * How far it came is kept with the person.
 * @throws {Paused} when the budget is used up
 */
export const rename = async (work: Work, user: User, workspaces: readonly string[], budget: Budget): Promise<void> => {
  // What was found last is looked through first, so that few places are open at any time.
  const open: Place[] = [...(user.renaming ?? workspaces.flatMap((id) => rootsOf(id, user)))]
  while (open.length > 0) {
    const batch = open.splice(-AT_ONCE)
    const looks = await Promise.allSettled(batch.map((place) => lookThrough(work, user, place, budget)))
    open.push(...looks.flatMap((look, i) => (look.status === 'fulfilled' ? look.value : (batch[i] as Place))))
    const failed = looks.find((look) => look.status === 'rejected')
    if (!failed) continue
    await work.table.transact([UserEntity.update(user, { set: { renaming: open } }, { where: { status: 'deleted' } })])
    throw failed.reason
  }
}

/** The person's own orchestrator has no record that would lead to its marks. */
const rootsOf = (workspaceId: string, user: User): Place[] => [
  { partition: ChainMarkEntity.partition({ installation_id: orchestratorId(workspaceId, user.id) }) },
  { partition: WorkspaceEntity.partition({ id: workspaceId }) },
]

/** @returns where to look on */
const lookThrough = async (work: Work, user: User, place: Place, budget: Budget): Promise<Place[]> => {
  spend(budget)
  const { partition } = place
  const { next, found } = FEED.test(partition)
    ? await inFeed(work, user, place, budget)
    : await inPartition(work, user, place, budget)
  const on = next === undefined ? [] : [{ partition, after: next }]
  return [...on, ...[...new Set(found)].map((one) => ({ partition: one }))]
}

const inPartition = async (work: Work, user: User, { partition, after }: Place, budget: Budget) => {
  const page = await everythingIn(work.table, partition, { limit: PAGE, after })
  for (const { entity, key, item } of page.items) await renameIn(work, entity, key, item, user, budget)
  const runs = page.items.flatMap(({ entity, item }) => (entity === WorkspaceRunEntity.name ? [item as never] : []))
  await renameInRuns(work, runs, user, budget)
  const found = page.items.flatMap(({ entity, item }) => leadsTo(entity, item, user))
  return { next: page.next, found: found.filter((one) => !NAMELESS.test(one)) }
}

const FEED = /^FEED#/

const inFeed = async (work: Work, user: User, { partition, after }: Place, budget: Budget) => {
  const installation_id = partition.replace(FEED, '')
  const page = await work.table.query(FeedEntryEntity, { installation_id }, { limit: PAGE, after, ascending: true })
  await renameInFeed(work, page.items, user, budget)
  return { next: page.next, found: [] }
}

/**
 * Partitions in which a name may stand. Runs lead nowhere: their steps are found by their places in the workspace, which the
 * orchestrator's runs have too, so that each partition is read once, however many runs there are.
 */
const leadsTo = (entity: string, item: Record<string, unknown>, { id }: User): string[] => {
  const it = item as never
  if (entity === RunEntity.name) return []
  // What the person's own runs did goes with them.
  if (entity === WorkspaceRunEntity.name) return item.private_to === id ? [] : [StepEntity.partition(it)]
  if (entity === WorkspaceReviewEntity.name) return [ReviewEntity.partition({ id: String(item.review_id) })]
  return FATES.get(entity)?.partitions?.(it) ?? []
}

/** Counters, deliveries and who was notified hold no names of people; events are found by their feeds. */
const NAMELESS = /^(EVT|COUNT|WHK|NTF)#/
