import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { Notification } from '#shared/identity/notifications/index.ts'
import { isStillGiven, MemberEntity, type User, UserEntity, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { translator } from '#shared/kernel/messages.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { NotificationPreferencesEntity, ReadStateEntity } from '../entity.ts'
import { isRead, listNotifications } from '../list.ts'
import { composeMail, type MailPart } from './compose.ts'
import { localDay, nextDigestAt } from './digest-time.ts'
import { type PersonMail, PersonMailEntity } from './entity.ts'
import { isOpen, mailPart } from './part.ts'
import { LEASE, MOST_TRIES, pauseAfter } from './send.ts'
import { unsubscribeUrl } from './unsubscribe.ts'
import { mailWay } from './ways.ts'

/** Most notifications that a digest shows, and that it looks through in each workspace. */
const SHOWN = 20
const LOOKED_AT = 100

/** Time after which the index shows a new notification. Newer ones are in the next digest again, if still unread. */
const SETTLES = 5 * SECOND

/**
 * Sends a person's digest: unread notifications of all their workspaces that they chose to get this way. At most one a day
 * in their time zone, and none if there is nothing left to say.
 */
export const sendDigest = async (work: WorkerWork, user_id: string): Promise<void> => {
  const { table, clock } = work
  const now = clock.now()
  const [mail, user] = await table.getAll([PersonMailEntity.ref({ user_id }), UserEntity.ref({ id: user_id })] as const)
  if (!mail?.digest || mail.digest.at > now || mail.digest.locked_until > now) return
  const { digest, revision } = mail
  /** Changes the record unless somebody else did. Removes the digest without a time for the next one. */
  const write = (set: Partial<PersonMail>, from: number): Promise<boolean> =>
    ifUnchanged(
      table.transact([
        PersonMailEntity.update({ user_id }, { set, add: { revision: 1 } }, { where: { revision: from } }),
      ]),
    )
  const none = { digest: undefined, due_at: undefined }
  if (user?.status !== 'active' || mail.email === undefined || mail.digest_off || work.settings.mailFrom === undefined)
    return void (await write(none, revision))
  const today = localDay(now, user.time_zone)
  const next = nextDigestAt(now, user.time_zone, today)
  // The time zone may have changed since it was planned.
  if (mail.digest_day === today) return void (await write({ digest: { ...digest, at: next }, due_at: next }, revision))
  if (digest.tries >= MOST_TRIES) return void (await write({ ...none, digest_from: now }, revision))
  const claimed = { ...digest, tries: digest.tries + 1, locked_until: now + LEASE }
  if (!(await write({ digest: claimed, due_at: claimed.locked_until }, revision))) return
  const message = await composeDigest(work, user as User, mail)
  const covered = { digest_from: now - SETTLES }
  try {
    if (message) await work.mail.send(message)
  } catch (error) {
    work.log.warn('a digest wasn’t sent', { user_id, tries: claimed.tries, error })
    const due_at = clock.now() + pauseAfter(claimed.tries)
    await write({ digest: { ...claimed, locked_until: 0 }, due_at }, revision + 1)
    return
  }
  const done = { ...covered, ...(message && { digest_day: today }) }
  if (await write({ ...none, ...done }, revision + 1)) return
  // A notification came meanwhile: it is in the next digest.
  const later = await table.get(PersonMailEntity, { user_id })
  if (!later?.digest) return
  await write(
    { ...done, digest: { ...later.digest, at: next, tries: 0, locked_until: 0 }, due_at: next },
    later.revision,
  )
}

/** Composes the digest. @returns undefined if there is nothing for it */
const composeDigest = async (work: WorkerWork, user: User, mail: PersonMail) => {
  const t = translator(user.locale)
  const found: MailPart[] = []
  for (const workspace_id of mail.digest?.workspace_ids ?? []) {
    found.push(...(await partsOf(work, user, workspace_id, mail.digest_from ?? 0)))
  }
  if (found.length === 0 || mail.email === undefined) return undefined
  const rest = found.length - SHOWN
  return composeMail(work.settings, t, {
    to: mail.email,
    locale: user.locale,
    subject: t('{n, plural, one {# notification} other {# notifications}} on {platform}', {
      n: found.length,
      platform: work.settings.brand.name,
    }),
    parts: found.slice(0, SHOWN),
    ...(rest > 0 && { more: t('And {n, plural, one {# more} other {# more}} in the console.', { n: rest }) }),
    unsubscribe: unsubscribeUrl(work.settings.baseUrl, mail, 'digest'),
  })
}

/** Lists what a digest says of a workspace, if the person is still in it. */
const partsOf = async (
  work: WorkerWork,
  { id: user_id, locale }: User,
  workspace_id: string,
  from: number,
): Promise<MailPart[]> => {
  const [workspace, member, preferences, read] = await work.table.getAll([
    WorkspaceEntity.ref({ id: workspace_id }),
    MemberEntity.ref({ workspace_id, user_id }),
    NotificationPreferencesEntity.ref({ workspace_id, user_id }),
    ReadStateEntity.ref({ workspace_id, user_id }),
  ] as const)
  if (workspace?.status !== 'active' || !member || !(await isStillGiven(work, member))) return []
  const since = idFloor('notification', Math.max(from, member.joined_at))
  const { items } = await listNotifications(work, member, { limit: LOOKED_AT, from: since })
  const unread: Notification[] = []
  for (const notification of items) {
    if (mailWay(preferences, notification.kind) !== 'digest' || (read && isRead(read, notification.id))) continue
    if (await isOpen(work, notification, member)) unread.push(notification)
  }
  const ids = [...new Set(unread.map(({ installation_id }) => installation_id).filter((id) => id !== undefined))]
  const installations = await work.table.getAll(ids.map((id) => InstallationEntity.ref({ workspace_id, id })))
  const names = new Map(installations.map((one) => [one?.id, one?.app_name]))
  return unread.map((notification) =>
    mailPart(work.settings, translator(locale), locale, notification, {
      agentName: names.get(notification.installation_id),
      workspaceName: workspace.name,
    }),
  )
}
