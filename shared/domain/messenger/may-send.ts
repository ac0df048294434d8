import type { Account, Dialog } from '../../entities/messenger.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'

/**
 * Until when a chat may be answered, epoch ms: a Business bot may write in chats that had an incoming message in the last 24
 * hours (core.telegram.org/bots/api#businessbotrights, `can_reply`). Undefined where there is no limit.
 */
export const replyUntil = ({ kind }: Pick<Account, 'kind'>, { last_incoming_at }: Dialog): number | undefined =>
  kind === 'user' ? (last_incoming_at ?? 0) + LIMITS.businessReply : undefined

/**
 * Why a workspace sends nothing at all; undefined when it does. In the grace of its deletion it does, other than its webhooks
 * (webhooks/deliver.ts): people go on then, and what goes out here a person wrote or approved. Staff's suspension holds also there.
 */
export const whyStopped = ({ clock }: Pick<Deps, 'clock'>, workspace: Workspace | undefined): string | undefined => {
  if (!workspace || (workspace.deletes_at ?? Number.POSITIVE_INFINITY) <= clock.now())
    return 'The workspace is deleted.'
  const { status, status_before } = workspace
  return status === 'suspended' || (status === 'deleting' && status_before === 'suspended')
    ? 'The workspace is suspended.'
    : undefined
}

/** Why nothing can be sent in a chat now, and what to do; undefined when it can. */
export const whyNot = (
  { clock }: Pick<Deps, 'clock'>,
  account: Account | undefined,
  dialog: Dialog,
): { message: string; fix: string } | undefined => {
  if (account?.status !== 'active') {
    return {
      message: 'The messenger account is not connected.',
      fix: 'Connect it again; GET /console/messenger/accounts says what happened.',
    }
  }
  if (!account.can_reply) {
    return {
      message: 'Telegram does not allow replies in this person’s name.',
      fix: 'Let the bot reply to messages in Telegram: Settings, Telegram Business, Chatbots.',
    }
  }
  const until = replyUntil(account, dialog)
  if (until !== undefined && until <= clock.now()) {
    return {
      message: 'Telegram allows answers in a person’s name within 24 hours of the last incoming message only.',
      fix: 'Write in Telegram itself, or wait until the other side writes.',
    }
  }
  return undefined
}

/** @throws `conflict` when nothing can be sent there now */
export const requireSendable = (deps: Pick<Deps, 'clock'>, account: Account, dialog: Dialog): void => {
  const reason = whyNot(deps, account, dialog)
  if (reason) throw fail('conflict', reason)
}
