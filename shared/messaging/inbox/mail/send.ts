import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { NotificationEntity } from '#shared/identity/notifications/index.ts'
import { isStillGiven, MemberEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { translator } from '#shared/kernel/messages.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { NotificationPreferencesEntity, ReadStateEntity } from '../entity.ts'
import { isRead } from '../list.ts'
import { composeMail } from './compose.ts'
import { type NotificationMail, NotificationMailEntity, PersonMailEntity } from './entity.ts'
import { isOpen, mailPart } from './part.ts'
import { unsubscribeUrl } from './unsubscribe.ts'
import { mailWay } from './ways.ts'

/** Length of the lease on sending, which is longer than a worker may run. */
export const LEASE = 2 * MINUTE

/** Attempts for each e-mail. */
export const MOST_TRIES = 6

/** Pause before the next attempt, from two minutes up to an hour. */
export const pauseAfter = (tries: number): number => MINUTE * 2 ** Math.min(tries, 6)

/** Age from which a notification is too old for an e-mail of its own. */
const FRESH = DAY

/**
 * Sends the e-mail about a notification, unless the person has seen it. Reads what the person may see at that time.
 *
 * Sends once, however often it is invoked, with one exception: if a worker dies between the provider's answer and the
 * record, the e-mail is sent again.
 */
export const sendNotificationMail = async (
  work: WorkerWork,
  at: { notification_id: string; user_id: string },
): Promise<void> => {
  const { table, clock } = work
  const now = clock.now()
  const mail = await table.get(NotificationMailEntity, at)
  if (mail?.state !== 'waiting' || mail.send_at > now || mail.locked_until > now) return
  const end = (state: NotificationMail['state'], tries: number) =>
    ifUnchanged(
      table.transact([
        NotificationMailEntity.update(
          at,
          { set: { state, due_at: undefined } },
          { where: { state: 'waiting', tries } },
        ),
      ]),
    )
  const message = await messageFor(work, mail)
  if (!message) return void (await end('skipped', mail.tries))
  if (mail.tries >= MOST_TRIES) return void (await end('given_up', mail.tries))
  const tries = mail.tries + 1
  const locked_until = now + LEASE
  const isClaimed = await ifUnchanged(
    table.transact([
      NotificationMailEntity.update(
        at,
        { set: { tries, locked_until, due_at: locked_until } },
        { where: { state: 'waiting', tries: mail.tries } },
      ),
    ]),
  )
  if (!isClaimed) return
  try {
    await work.mail.send(message)
  } catch (error) {
    work.log.warn('an e-mail about a notification wasn’t sent', { ...at, tries, error })
    const due_at = clock.now() + pauseAfter(tries)
    await ifUnchanged(
      table.transact([
        NotificationMailEntity.update(at, { set: { locked_until: 0, due_at } }, { where: { state: 'waiting', tries } }),
      ]),
    )
    return
  }
  await end('sent', tries)
}

/** Composes the e-mail. @returns undefined if the person has seen the notification, may not see it or wants no e-mail */
const messageFor = async (work: WorkerWork, { notification_id, user_id, workspace_id }: NotificationMail) => {
  const [notification, workspace, member, user, address, preferences, read] = await work.table.getAll([
    NotificationEntity.ref({ workspace_id, id: notification_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
    MemberEntity.ref({ workspace_id, user_id }),
    UserEntity.ref({ id: user_id }),
    PersonMailEntity.ref({ user_id }),
    NotificationPreferencesEntity.ref({ workspace_id, user_id }),
    ReadStateEntity.ref({ workspace_id, user_id }),
  ] as const)
  if (!notification || workspace?.status !== 'active' || !member || user?.status !== 'active') return undefined
  if (address?.email === undefined || mailWay(preferences, notification.kind) !== 'at_once') return undefined
  if (notification.user_id !== undefined && notification.user_id !== user_id) return undefined
  if (work.clock.now() - notification.created_at > FRESH || (read && isRead(read, notification.id))) return undefined
  if (!(await isStillGiven(work, member)) || !(await isOpen(work, notification, member))) return undefined
  const { installation_id } = notification
  const installation =
    installation_id === undefined
      ? undefined
      : await work.table.get(InstallationEntity, { workspace_id, id: installation_id })
  const t = translator(user.locale)
  const part = mailPart(work.settings, t, user.locale, notification, {
    agentName: installation?.app_name,
    workspaceName: workspace.name,
  })
  return composeMail(work.settings, t, {
    to: address.email,
    locale: user.locale,
    subject: part.title,
    parts: [part],
    unsubscribe: unsubscribeUrl(work.settings.baseUrl, address, workspace_id),
  })
}
