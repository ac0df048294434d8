import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { type Notification, NotificationEntity } from '#shared/identity/notifications/index.ts'
import { isStillGiven, MemberEntity, type User, UserEntity, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { DAY, SECOND } from '#shared/kernel/clock.ts'
import type { BotFailure } from '#shared/kernel/ports/bot.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { loadOpenQuestions } from '#shared/work/questions/index.ts'
import { RunEntity } from '#shared/work/runs/index.ts'
import { BotChatEntity } from '../bot/entity.ts'
import { claimDelivery, type DeliveryLease } from './delivery-lease.ts'
import { NotificationPreferencesEntity } from './entity.ts'
import { PersonMailEntity } from './mail/entity.ts'
import { scheduleMail } from './mail/schedule.ts'
import { botMessage } from './message.ts'
import type { PersonMessage } from './person-message.ts'
import { wantsNotification } from './preferences.ts'

/** Maximum age of a notification sent by the bot. Older ones appear in the console only. */
const FRESH = DAY

/** Attempts per recipient. */
const TRIES = 5

/** Backoff after a retryable failure, in milliseconds. A delay requested by the Bot API takes precedence. */
const PAUSES = [10 * SECOND, 60 * SECOND, 5 * 60 * SECOND, 15 * 60 * SECOND]

/**
 * Sends a notification to one user through the platform's bot, and plans its e-mail. Skips users who left the workspace or
 * are blocked, and the bot's message for those who muted this kind or have no chat with the bot.
 *
 * Sends once, however often it is invoked, with one exception. If a worker dies after the Bot API accepted the message
 * and before that is recorded, the next worker sends it again. The Bot API has no idempotency key, and a duplicate does
 * less harm than an approval request nobody sees.
 */
export const deliverNotification = async (work: WorkerWork, message: PersonMessage): Promise<void> => {
  const known = await loadRecipient(work, message)
  if (!known) return
  await scheduleMail(work, known.notification, known)
  const recipient = await loadChat(work, known)
  if (!recipient) return
  const { notification, user, chat } = recipient
  const claim = await claimDelivery(work, message, TRIES)
  if (claim === 'over') return
  if (claim === 'leased') return requeue(work, message, 90 * SECOND)
  const answer = await work.bot.call('sendMessage', botMessage(work.settings.baseUrl, user, notification, recipient))
  if (answer.ok) return claim.sent()
  const { status, description, retry, retryAfterMs } = answer
  work.log.warn('could not deliver a notification', {
    notification_id: notification.id,
    user_id: user.id,
    status,
    description,
    retry,
  })
  if (isClosed(answer)) await closeChat(work, chat)
  if (!retry) return claim.givenUp()
  await later(work, message, claim, retryAfterMs)
}

const later = async (
  work: WorkerWork,
  message: PersonMessage,
  claim: DeliveryLease,
  retryAfterMs: number | undefined,
): Promise<void> => {
  // Rate limiting isn't a failure of this message, so it doesn't count as an attempt.
  if (retryAfterMs !== undefined) await claim.release({ counts: false })
  else if (claim.tries >= TRIES) return claim.givenUp()
  else await claim.release({ counts: true })
  await requeue(work, message, retryAfterMs ?? PAUSES[claim.tries - 1] ?? SECOND)
}

const requeue = (work: WorkerWork, body: PersonMessage, delayMs: number): Promise<void> =>
  work.queues.send('notifications', [{ body, delayMs, group: body.workspace_id }])

/** Loads the recipient and the notification. Returns undefined if nothing should be sent. */
const loadRecipient = async (work: WorkerWork, { notification_id, workspace_id, user_id }: PersonMessage) => {
  const { table, clock } = work
  const [notification, workspace, member, user, preferences, mail] = await table.getAll([
    NotificationEntity.ref({ workspace_id, id: notification_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
    MemberEntity.ref({ workspace_id, user_id }),
    UserEntity.ref({ id: user_id }),
    NotificationPreferencesEntity.ref({ workspace_id, user_id }),
    ...(work.settings.mailFrom === undefined ? [] : [PersonMailEntity.ref({ user_id })]),
  ] as const)
  const now = clock.now()
  if (!notification || workspace?.status !== 'active' || !member || user?.status !== 'active') return undefined
  if (now - notification.created_at > FRESH || !(await isStillGiven(work, member))) return undefined
  return { notification, workspace, user: user as User, preferences, mail }
}

/** Loads the recipient's chat with the bot. Returns undefined if the bot shouldn't write to it. */
const loadChat = async (
  work: WorkerWork,
  { notification, workspace, user, preferences }: NonNullable<Awaited<ReturnType<typeof loadRecipient>>>,
) => {
  const { table, clock, bot } = work
  if (!wantsNotification(preferences, notification.kind, clock.now()) || !(await bot.credentials())) return undefined
  const { workspace_id, installation_id, target } = notification
  const [chat, installation, run, questions] = await Promise.all([
    table.get(BotChatEntity, { identity: user.identity }),
    installation_id === undefined ? undefined : table.get(InstallationEntity, { workspace_id, id: installation_id }),
    decidable(notification)
      ? table.get(RunEntity, { installation_id: installation_id ?? '', id: target?.id ?? '' })
      : undefined,
    isQuestion(notification)
      ? loadOpenQuestions(work, { run_id: target?.id ?? '', step_id: target?.step_id ?? '' })
      : undefined,
  ])
  if (!chat?.can_be_written_to) return undefined
  // The approval was decided, or the question answered, in the meantime.
  if (decidable(notification) && run?.pending_step !== target?.step_id) return undefined
  if (isQuestion(notification) && Object.keys(questions ?? {}).length === 0) return undefined
  return {
    notification,
    workspaceName: workspace.name,
    agentName: installation?.app_name,
    questions,
    user,
    chat,
  }
}

const decidable = ({ kind, installation_id, target }: Notification): boolean =>
  kind === 'run.awaiting_approval' && installation_id !== undefined && target !== undefined

/** True for an agent's question that people answer as long as its run waits. */
const isQuestion = ({ kind, target }: Notification): boolean =>
  kind === 'agent.question' && target?.type === 'run' && target.step_id !== undefined

/** True if the user blocked the bot, deleted their account or has no chat (core.telegram.org/bots/api#making-requests). */
const isClosed = ({ status, description }: BotFailure): boolean =>
  status === 403 || (status === 400 && description.includes('chat not found'))

/** Marks the chat as closed, unless the user has written to the bot since. */
const closeChat = async (work: WorkerWork, { identity, heard_at }: { identity: string; heard_at: number }) => {
  await ifUnchanged(
    work.table.transact([
      BotChatEntity.update({ identity }, { set: { can_be_written_to: false } }, { where: { heard_at } }),
    ]),
  )
}
