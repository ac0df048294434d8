import { ConversationEntity, MessageEntity, PersonChatEntity } from '../../entities/conversations.ts'
import { FormerMemberEntity, formerlyOf } from '../../entities/former-members.ts'
import { NotificationPreferencesEntity, ReadStateEntity } from '../../entities/inbox.ts'
import { NotificationEntity, notificationsOf } from '../../entities/notifications.ts'
import { type User, UserEntity } from '../../entities/people.ts'
import { RequestVoteEntity, votesOf } from '../../entities/reviews.ts'
import { MINUTE } from '../../kernel/clock.ts'
import type { AnyEntity, ItemOf } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { removeAccountsOf } from '../messenger/leave.ts'
import { takeVoteBack } from '../requests/vote.ts'
import { type Budget, spend } from './budget.ts'
import { emptying } from './empty.ts'
import { rename } from './rename.ts'

const PAGE = 50

/** In which requests and workers that began before the account's end are over, and indexes have what they wrote. */
const SETTLING = 15 * MINUTE

/**
 * What nobody else has of somebody who deleted their account: votes are taken back, and their own chats, messenger accounts and
 * notifications go, also in workspaces that they left before. Done in every round until the rest is, because something of it may
 * come in, or come into an index, for a while after.
 * @returns whether nothing more can come, so that the rest ({@link removeName}) may be done
 * @throws {Paused} when the budget is used up
 */
export const removeOwn = async (work: Work, id: string, budget: Budget): Promise<boolean> => {
  const user = await tombstone(work, id)
  if (!user) return false
  const settled = work.clock.now() >= (user.deleted_at ?? 0) + SETTLING
  await takeVotesBack(work, id, budget)
  for (const workspace_id of await workspacesOf(work, user, budget)) {
    await removeChats(work, workspace_id, id, budget)
    await removeAccountsOf(work, workspace_id, id)
    await removeNotices(work, workspace_id, id, budget)
  }
  return settled
}

/**
 * Ends the removal of somebody's traces: in what stays with the workspaces, another name stands in place of theirs. May be long, and
 * goes on where it was.
 * @throws {Paused} when the budget is used up
 */
export const removeName = async (work: Work, id: string, budget: Budget): Promise<void> => {
  const user = await tombstone(work, id)
  if (!user) return
  const workspaces = await workspacesOf(work, user, budget)
  await rename(work, user, workspaces, budget)
  for (const workspace_id of workspaces) {
    spend(budget)
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

/** Undefined where nothing is left to do. */
const tombstone = async (work: Work, id: string): Promise<User | undefined> => {
  const user = await work.table.get(UserEntity, { id })
  return user?.status === 'deleted' && user.left ? user : undefined
}

/** Every workspace that the person was ever in. */
const workspacesOf = async (work: Work, { id, left = [] }: User, budget: Budget): Promise<string[]> => {
  const found = new Set(left)
  for await (const { workspace_id } of listedIn(work, FormerMemberEntity, formerlyOf(id), budget))
    found.add(workspace_id)
  return [...found]
}

const takeVotesBack = async (work: Work, userId: string, budget: Budget): Promise<void> => {
  for await (const { request_id } of listedIn(work, RequestVoteEntity, votesOf(userId), budget)) {
    spend(budget)
    await takeVoteBack(work, userId, request_id)
  }
}

/** The main chat, and those with agents: nobody else sees them. */
const removeChats = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const own = `CHAT#${user_id}#`
  const { empty } = emptying(work, budget)
  for (;;) {
    spend(budget)
    const { items } = await work.table.query(
      PersonChatEntity,
      { workspace_id },
      { limit: PAGE, from: own, to: `${own}~` },
    )
    if (items.length === 0) return
    for (const chat of items) {
      const { conversation_id } = chat
      // Without it nothing is said there any more. What leads to the messages goes last.
      await work.table.transact([ConversationEntity.delete({ workspace_id, id: conversation_id })])
      await empty(MessageEntity.partition({ conversation_id }))
      await work.table.transact([PersonChatEntity.delete(chat)])
    }
  }
}

const removeNotices = async (work: Work, workspace_id: string, user_id: string, budget: Budget): Promise<void> => {
  const { end } = emptying(work, budget)
  for await (const notice of listedIn(work, NotificationEntity, notificationsOf(workspace_id, user_id), budget)) {
    await end(NotificationEntity.name, NotificationEntity.key(notice), notice)
  }
  await work.table.transact([ReadStateEntity.delete({ workspace_id, user_id })])
  await work.table.transact([NotificationPreferencesEntity.delete({ workspace_id, user_id })])
}

/** A list to its end: its index may still hold what is gone, so a page without records is not the last. */
async function* listedIn<E extends AnyEntity>(
  work: Work,
  entity: E,
  owner: string,
  budget: Budget,
): AsyncGenerator<ItemOf<E>> {
  let after: string | undefined
  do {
    spend(budget)
    const page = await work.table.listed(entity, owner, { limit: PAGE, after })
    yield* page.items as ItemOf<E>[]
    after = page.next
  } while (after !== undefined)
}
