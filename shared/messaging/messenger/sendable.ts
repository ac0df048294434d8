import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Account, Thread } from '#shared/work/threads/index.ts'

/**
 * Returns when the reply window of a thread ends, in epoch ms; undefined for no limit. A Business bot may only write in
 * chats with an incoming message in the last 24 hours (core.telegram.org/bots/api#businessbotrights, `can_reply`).
 */
export const replyUntil = ({ kind }: Pick<Account, 'kind'>, { last_incoming_at }: Thread): number | undefined =>
  kind === 'user' ? (last_incoming_at ?? 0) + LIMITS.businessReply : undefined

/**
 * Returns why a workspace may not send messages, or undefined. Unlike webhooks (webhooks/deliver.ts), messages are
 * still sent during the deletion grace period, because people wrote or approved them. A suspension by admins always
 * applies.
 */
export const sendingStopReason = (
  { clock }: Pick<Deps, 'clock'>,
  workspace: Workspace | undefined,
): string | undefined => {
  if (!workspace || (workspace.deletes_at ?? Number.POSITIVE_INFINITY) <= clock.now())
    return 'The workspace is deleted.'
  const { status, status_before } = workspace
  return status === 'suspended' || (status === 'deleting' && status_before === 'suspended')
    ? 'The workspace is suspended.'
    : undefined
}

/** Returns why a thread can't be replied to now and how to fix it, or undefined. */
export const replyRefusal = (
  { clock }: Pick<Deps, 'clock'>,
  account: Account | undefined,
  thread: Thread,
): { message: string; fix: string } | undefined => {
  if (account?.status !== 'active') {
    return {
      message: 'The messenger account isn’t connected.',
      fix: 'Check the reason with GET /console/messenger/accounts, then connect the account again.',
    }
  }
  if (!account.can_reply) {
    return {
      message: 'Telegram doesn’t allow the bot to reply on behalf of this person.',
      fix: 'In Telegram, open Settings > Telegram Business > Chatbots and allow the bot to reply to messages.',
    }
  }
  const until = replyUntil(account, thread)
  if (until !== undefined && until <= clock.now()) {
    return {
      message: 'Telegram allows replies on behalf of a person only within 24 hours of the last incoming message.',
      fix: 'Reply in Telegram itself, or wait for a new incoming message.',
    }
  }
  return undefined
}

/** @throws `conflict` when the thread can't be replied to now */
export const requireSendable = (deps: Pick<Deps, 'clock'>, account: Account, thread: Thread): void => {
  const reason = replyRefusal(deps, account, thread)
  if (reason) throw fail('conflict', reason)
}
