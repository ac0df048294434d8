import { ScheduleEntity, stopSchedule } from '#shared/agents/schedules/index.ts'
import { PersonUpdatesEntity } from '#shared/foundation/updates/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { NotificationEntity, notificationsOf } from '#shared/identity/notifications/index.ts'
import { FormerMemberEntity, formerWorkspacesOf, type User, UserEntity } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { RequestVoteEntity, votesOf, withdrawVote } from '#shared/marketplace/requests/index.ts'
import { NotificationPreferencesEntity, ReadStateEntity } from '#shared/messaging/inbox/index.ts'
import { removeAccountsOf } from '#shared/messaging/messenger/index.ts'
import type { Entity } from '#shared/table/entity.ts'
import { eachItem } from '#shared/table/pages.ts'
import { AwayEntity } from '#shared/work/approval-rules/index.ts'
import {
  ConversationEntity,
  MessageEntity,
  PersonChatEntity,
  ReadMarkEntity,
} from '#shared/work/conversations/index.ts'
import { DeskEntity } from '#shared/work/desk/index.ts'
import { type Budget, spendBudget } from './budget.ts'
import { createPartitionRemover } from './partitions.ts'
import { renamePerson } from './rename.ts'

const PAGE = 50

/**
 * Time after which requests and workers that started before the account's end are over, and indexes contain their
 * writes.
 */
const SETTLING = 15 * MINUTE

/**
 * Removes what belongs only to a person who deleted their account. Votes are taken back, and their own conversations,
 * messenger accounts and notifications are deleted, also in workspaces that they left before. Every round repeats this
 * until the rest is done, because late writes may still arrive, or reach an index, for a while.
 * @returns true if nothing more can arrive, so that the rest ({@link removePersonName}) may be done
 * @throws {Paused} when the budget is used up
 */
export const removePersonalData = async (work: Work, id: string, budget: Budget): Promise<boolean> => {
  const user = await tombstone(work, id)
  if (!user) return false
  const settled = work.clock.now() >= (user.deleted_at ?? 0) + SETTLING
  await takeVotesBack(work, id, budget)
  for (const workspace_id of await workspacesOf(work, user, budget)) {
    await removeChats(work, workspace_id, id, budget)
    await removeReadMarks(work, workspace_id, id, budget)
    await removePrivateSchedules(work, workspace_id, id, budget)
    await removeAccountsOf(work, workspace_id, id)
    await removeNotices(work, workspace_id, id, budget)
  }
  return settled
}

/**
 * Completes the removal of a person's traces. In records that stay with the workspaces, another name replaces theirs.
 * May take long, and continues where it stopped.
 * @throws {Paused} when the budget is used up
 */
export const removePersonName = async (work: Work, id: string, budget: Budget): Promise<void> => {
  const user = await tombstone(work, id)
  if (!user) return
  const workspaces = await workspacesOf(work, user, budget)
  await renamePerson(work, user, workspaces, budget)
  for (const workspace_id of workspaces) {
    spendBudget(budget)
    await work.table.transact([FormerMemberEntity.delete({ workspace_id, user_id: id })])
  }
  await work.table.transact([
    UserEntity.update(
      { id },
      { set: { left: undefined, renaming: undefined }, list: null },
      { where: { status: 'deleted' } },
    ),
  ])
}

/** Returns the person's tombstone, or undefined if nothing is left to do. */
const tombstone = async (work: Work, id: string): Promise<User | undefined> => {
  const user = await work.table.get(UserEntity, { id })
  return user?.status === 'deleted' && user.left ? user : undefined
}

/** Returns every workspace that the person was ever in. */
const workspacesOf = async (work: Work, { id, left = [] }: User, budget: Budget): Promise<string[]> => {
  const found = new Set(left)
  for await (const { workspace_id } of listedIn(work, FormerMemberEntity, formerWorkspacesOf(id), budget))
    found.add(workspace_id)
  return [...found]
}

const takeVotesBack = async (work: Work, userId: string, budget: Budget): Promise<void> => {
  for await (const { request_id } of listedIn(work, RequestVoteEntity, votesOf(userId), budget)) {
    spendBudget(budget)
    await withdrawVote(work, userId, request_id)
  }
}

/** Deletes the main conversation and those with agents. No one else sees them. */
const removeChats = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const own = `CHAT#${user_id}#`
  const { empty } = createPartitionRemover(work, budget)
  for (;;) {
    spendBudget(budget)
    const { items } = await work.table.query(
      PersonChatEntity,
      { workspace_id },
      { limit: PAGE, from: own, to: `${own}~` },
    )
    if (items.length === 0) return
    for (const chat of items) {
      const { conversation_id } = chat
      // Once the conversation is deleted, no one can write to it. The record that leads to the messages is deleted
      // last.
      await work.table.transact([ConversationEntity.delete({ workspace_id, id: conversation_id })])
      await empty(MessageEntity.partition({ conversation_id }))
      await work.table.transact([PersonChatEntity.delete(chat)])
    }
  }
}

/** Deletes what a person had read, in every conversation. */
const removeReadMarks = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const own = `READ#${user_id}#`
  for (;;) {
    spendBudget(budget)
    const { items } = await work.table.query(
      ReadMarkEntity,
      { workspace_id },
      { limit: PAGE, from: own, to: `${own}~` },
    )
    if (items.length === 0) return
    for (const mark of items) await work.table.transact([ReadMarkEntity.delete(mark)])
  }
}

/** Deletes the schedules that wrote in the person's conversations. Nobody else sees them. */
const removePrivateSchedules = async (work: Work, workspace_id: string, id: string, budget: Budget): Promise<void> => {
  const { end } = createPartitionRemover(work, budget)
  const schedules = eachItem((after) => {
    spendBudget(budget)
    return work.table.query(ScheduleEntity, { workspace_id }, { limit: PAGE, after })
  })
  for await (const schedule of schedules) {
    if (schedule.private_to !== id) continue
    await stopSchedule(work, schedule)
    await end(ScheduleEntity.name, ScheduleEntity.key(schedule), { ...schedule })
  }
}

const removeNotices = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const { end } = createPartitionRemover(work, budget)
  for await (const notice of listedIn(work, NotificationEntity, notificationsOf(workspace_id, user_id), budget)) {
    await end(NotificationEntity.name, NotificationEntity.key(notice), notice)
  }
  await work.table.transact([ReadStateEntity.delete({ workspace_id, user_id })])
  await work.table.transact([PersonUpdatesEntity.delete({ workspace_id, user_id })])
  await work.table.transact([NotificationPreferencesEntity.delete({ workspace_id, user_id })])
  await work.table.transact([AwayEntity.delete({ workspace_id, user_id })])
  await work.table.transact([DeskEntity.delete({ workspace_id, user_id })])
}

const listedIn = <T extends object, P extends string, S extends string>(
  work: Work,
  entity: Entity<T, P, S>,
  owner: string,
  budget: Budget,
): AsyncGenerator<T> =>
  eachItem((after) => {
    spendBudget(budget)
    return work.table.listed(entity, owner, { limit: PAGE, after })
  })
