import { isDeepStrictEqual } from 'node:util'
import { ConversationEntity, MessageEntity, PersonChatEntity } from '../../entities/conversations.ts'
import { NotificationPreferencesEntity, ReadStateEntity } from '../../entities/inbox.ts'
import { NotificationEntity, notificationsOf } from '../../entities/notifications.ts'
import { type User, UserEntity, WorkspaceEntity } from '../../entities/people.ts'
import { RequestVoteEntity, ReviewEntity, votesOf, WorkspaceReviewEntity } from '../../entities/reviews.ts'
import { RunEntity, StepEntity, WorkspaceRunEntity } from '../../entities/runs.ts'
import { type AnyEntity, ConditionFailed, type ItemOf, type Key, type Write } from '../../table/entity.ts'
import { everythingIn } from '../../table/lists.ts'
import type { Work } from '../deps.ts'
import { removeAccountsOf } from '../messenger/leave.ts'
import { takeVoteBack } from '../requests/vote.ts'
import { type Budget, Paused, spend } from './budget.ts'
import { emptying } from './empty.ts'
import { FATES } from './fates.ts'

const PAGE = 50

/**
 * What is left to do after somebody deleted their account: their votes are taken back, their own chats, messenger accounts and
 * notifications go, and in what stays with a workspace another name stands in place of theirs. Begins anew wherever it was
 * stopped; only the search for the name, which may be long, goes on where it was.
 * @throws {Paused} when the round is used up
 */
export const removeTraces = async (work: Work, id: string, budget: Budget): Promise<void> => {
  const user = await work.table.get(UserEntity, { id })
  if (user?.status !== 'deleted' || !user.left) return
  await takeVotesBack(work, id, budget)
  for (const workspace_id of user.left) {
    await removeChats(work, workspace_id, id, budget)
    await removeAccountsOf(work, workspace_id, id)
    await removeNotices(work, workspace_id, id, budget)
  }
  await rename(work, user, user.left, budget)
  await work.table.transact([
    UserEntity.update(
      { id },
      { set: { left: undefined, renaming: undefined }, list: null },
      { where: { status: 'deleted' } },
    ),
  ])
}

const takeVotesBack = async (work: Work, userId: string, budget: Budget): Promise<void> => {
  for (;;) {
    const { items } = await work.table.listed(RequestVoteEntity, votesOf(userId), { limit: PAGE })
    if (items.length === 0) return
    for (const { request_id } of items) {
      spend(budget)
      await takeVoteBack(work, userId, request_id)
    }
  }
}

/** The main chat, and those with agents: nobody else sees them. */
const removeChats = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const own = `CHAT#${user_id}#`
  const { empty } = emptying(work, budget)
  for (;;) {
    const { items } = await work.table.query(
      PersonChatEntity,
      { workspace_id },
      { limit: PAGE, from: own, to: `${own}~` },
    )
    if (items.length === 0) return
    for (const chat of items) {
      const { conversation_id } = chat
      await empty(MessageEntity.partition({ conversation_id }))
      await work.table.transact([
        ConversationEntity.delete({ workspace_id, id: conversation_id }),
        PersonChatEntity.delete(chat),
      ])
    }
  }
}

const removeNotices = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const { end } = emptying(work, budget)
  for (;;) {
    const { items } = await work.table.listed(NotificationEntity, notificationsOf(workspace_id, user_id), {
      limit: PAGE,
    })
    if (items.length === 0) break
    for (const notice of items) await end(NotificationEntity.name, NotificationEntity.key(notice), notice)
  }
  await work.table.transact([ReadStateEntity.delete({ workspace_id, user_id })])
  await work.table.transact([NotificationPreferencesEntity.delete({ workspace_id, user_id })])
}

/** Goes through all that the workspaces have, as the removal of a workspace would. */
const rename = async (work: Work, user: User, left: readonly string[], budget: Budget): Promise<void> => {
  const places = user.renaming ?? left.map((id) => ({ partition: WorkspaceEntity.partition({ id }) }))
  const open: { partition: string; after?: string | undefined }[] = [...places]
  try {
    for (let place = open.at(-1); place; place = open.at(-1)) {
      spend(budget)
      const page = await everythingIn(work.table, place.partition, { limit: PAGE, after: place.after })
      for (const { entity, key, item } of page.items) await renameIn(work, entity, key, item, user, budget)
      await renameInRuns(work, page.items, user, budget)
      open.pop()
      if (page.next !== undefined) open.push({ partition: place.partition, after: page.next })
      const found = page.items.flatMap(({ entity, item }) => leadsTo(entity, item))
      open.push(...[...new Set(found)].filter((one) => leadsOn(one)).map((partition) => ({ partition })))
    }
  } catch (error) {
    if (error instanceof Paused) {
      const renaming = open.map(({ partition, after }) => ({ partition, ...(after !== undefined && { after }) }))
      await work.table.transact([UserEntity.update({ id: user.id }, { set: { renaming } })])
    }
    throw error
  }
}

/**
 * Partitions in which a name may stand. Runs lead nowhere: their steps are found by their places in the workspace, which the
 * orchestrator's runs have too, so that each partition is read once, however many runs there are.
 */
const leadsTo = (entity: string, item: Record<string, unknown>): string[] => {
  const it = item as never
  if (entity === RunEntity.name) return []
  if (entity === WorkspaceRunEntity.name) return [StepEntity.partition(it)]
  if (entity === WorkspaceReviewEntity.name) return [ReviewEntity.partition({ id: String(item.review_id) })]
  return FATES.get(entity)?.partitions?.(it) ?? []
}

/** Events and counters hold no names of people. */
const leadsOn = (partition: string): boolean => !/^(EVT|FEED|COUNT|CHAIN|WHK|NTF)#/.test(partition)

/** In the runs that have their places on a page: those of the orchestrator are found by nothing else. */
const renameInRuns = async (
  work: Work,
  page: readonly { entity: string; item: Record<string, unknown> }[],
  user: User,
  budget: Budget,
): Promise<void> => {
  const keys = page
    .filter(({ entity }) => entity === WorkspaceRunEntity.name)
    .map(({ item }) => item as ItemOf<typeof WorkspaceRunEntity>)
    .map(({ installation_id, run_id }) => RunEntity.key({ installation_id, id: run_id }))
  const runs = await work.table.getAll(keys.map((key) => ({ entity: RunEntity, key })))
  for (const [i, run] of runs.entries())
    if (run) await renameIn(work, RunEntity.name, keys[i] as Key, run, user, budget)
}

const renameIn = async (
  work: Work,
  name: string,
  key: Key,
  read: Record<string, unknown>,
  { id, name: other }: User,
  budget: Budget,
): Promise<void> => {
  let item: Record<string, unknown> | undefined = read
  while (item) {
    const changed = Object.entries(item).flatMap(([field, value]) => {
      const renamed = withName(value, id, other)
      return isDeepStrictEqual(renamed, value) ? [] : [[field, value, renamed] as const]
    })
    if (changed.length === 0) return
    spend(budget)
    const entity = FATES.get(name)?.entity ?? ({ name } as AnyEntity)
    const write: Write = {
      kind: 'update',
      entity,
      key,
      changes: { set: Object.fromEntries(changed.map(([field, , after]) => [field, after])) },
      where: Object.fromEntries(changed.map(([field, before]) => [field, before])),
    }
    try {
      return await work.table.transact([write])
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      item = (await work.table.getByKey(entity, key)) as Record<string, unknown> | undefined
    }
  }
}

/** The value with `name` wherever the person stands in it by id and name. */
const withName = (value: unknown, id: string, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => withName(one, id, name))
  if (typeof value !== 'object' || value === null) return value
  const own = value as Record<string, unknown>
  if (own.id === id && typeof own.name === 'string') return { ...own, name }
  return Object.fromEntries(Object.entries(own).map(([field, one]) => [field, withName(one, id, name)]))
}
