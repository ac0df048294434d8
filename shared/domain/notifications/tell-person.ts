import { BotChatEntity } from '../../entities/bot.ts'
import { NotificationPreferencesEntity } from '../../entities/inbox.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { type Notification, NotificationEntity } from '../../entities/notifications.ts'
import { MemberEntity, type User, UserEntity, WorkspaceEntity } from '../../entities/people.ts'
import { RunEntity } from '../../entities/runs.ts'
import type { PersonMessage } from '../../events/queues.ts'
import { DAY, SECOND } from '../../kernel/clock.ts'
import { ifUnchanged } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import type { BotFailure } from '../ports.ts'
import { claimTelling, type Telling } from './claim.ts'
import { botMessage } from './message.ts'
import { wants } from './preferences.ts'

/** What is older is not worth a ring any more; it stands in the console. */
const FRESH = DAY

/** Messages that are begun for one person, whatever comes of them. */
const TRIES = 5

/** Pauses after a failure that may pass, in ms; the Bot API's own wishes go before. */
const PAUSES = [10 * SECOND, 60 * SECOND, 5 * 60 * SECOND, 15 * 60 * SECOND]

/**
 * Tells one person of a notification through the platform's bot, if they are to be told now: whoever left the workspace, is
 * blocked, wants no such messages or has no chat with the bot is not.
 *
 * Once, however often it is woken. A worker that dies after the Bot API took the message and before that was recorded leaves
 * it to the next, which sends it again: the Bot API has no key by which it would know a repeated message, and a second ring is
 * less harm than an approval that nobody hears of.
 */
export const tellPerson = async (work: WorkerWork, message: PersonMessage): Promise<void> => {
  const asked = await addressee(work, message)
  if (!asked) return
  const { notification, workspaceName, agentName, user, chat } = asked
  const claim = await claimTelling(work, message, TRIES)
  if (claim === 'over') return
  if (claim === 'held') return again(work, message, 90 * SECOND)
  const answer = await work.bot.call(
    'sendMessage',
    botMessage(work.settings.baseUrl, user, notification, { workspaceName, agentName }),
  )
  if (answer.ok) return claim.sent()
  const { status, description, retry, retryAfterMs } = answer
  work.log.warn('a person was not told of a notification', {
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
  claim: Telling,
  retryAfterMs: number | undefined,
): Promise<void> => {
  // To be asked to wait is no failure of this message: it does not count as a try.
  if (retryAfterMs !== undefined) await claim.release({ counts: false })
  else if (claim.tries >= TRIES) return claim.givenUp()
  else await claim.release({ counts: true })
  await again(work, message, retryAfterMs ?? PAUSES[claim.tries - 1] ?? SECOND)
}

const again = (work: WorkerWork, body: PersonMessage, delayMs: number): Promise<void> =>
  work.queues.send('notifications', [{ body, delayMs, group: body.workspace_id }])

/** Who is to be told what, in two round trips; undefined where nobody is. */
const addressee = async (work: WorkerWork, { notification_id, workspace_id, user_id }: PersonMessage) => {
  const { table, clock } = work
  const [notification, workspace, member, user, preferences] = await table.getAll([
    { entity: NotificationEntity, key: NotificationEntity.key({ workspace_id, id: notification_id }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id, user_id }) },
    { entity: UserEntity, key: UserEntity.key({ id: user_id }) },
    { entity: NotificationPreferencesEntity, key: NotificationPreferencesEntity.key({ workspace_id, user_id }) },
  ])
  const now = clock.now()
  if (!notification || workspace?.status !== 'active' || !member || user?.status !== 'active') return undefined
  if (now - notification.created_at > FRESH || !wants(preferences, notification.kind, now)) return undefined
  const { installation_id, target } = notification
  const [chat, installation, run] = await Promise.all([
    table.get(BotChatEntity, { identity: user.identity }),
    installation_id === undefined ? undefined : table.get(InstallationEntity, { workspace_id, id: installation_id }),
    decidable(notification)
      ? table.get(RunEntity, { installation_id: installation_id ?? '', id: target?.id ?? '' })
      : undefined,
  ])
  if (!chat?.can_be_written_to) return undefined
  // Decided in the meantime, by somebody else.
  if (decidable(notification) && run?.pending_step !== target?.step_id) return undefined
  return { notification, workspaceName: workspace.name, agentName: installation?.app_name, user: user as User, chat }
}

const decidable = ({ kind, installation_id, target }: Notification): boolean =>
  kind === 'run.awaiting_approval' && installation_id !== undefined && target !== undefined

/** The person blocked the bot or deleted their account, or there is no chat (core.telegram.org/bots/api#making-requests). */
const isClosed = ({ status, description }: BotFailure): boolean =>
  status === 403 || (status === 400 && description.includes('chat not found'))

/** Unless they wrote to the bot since: then it is open again. */
const closeChat = async (work: WorkerWork, { identity, heard_at }: { identity: string; heard_at: number }) => {
  await ifUnchanged(
    work.table.transact([
      BotChatEntity.update({ identity }, { set: { can_be_written_to: false } }, { where: { heard_at } }),
    ]),
  )
}
