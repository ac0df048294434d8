import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { Notification } from '#shared/identity/notifications/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { NotificationPreferences } from '../entity.ts'
import { nextDigestAt } from './digest-time.ts'
import { NotificationMailEntity, type PersonMail, PersonMailEntity } from './entity.ts'
import { mailWay } from './ways.ts'

/** Time that people have to see a notification elsewhere before they get it by e-mail. */
const UNSEEN_FOR = 5 * MINUTE

/** Time before a digest from which on it may have been composed without a new notification. */
const COMPOSING = MINUTE

/**
 * Plans the e-mail about a notification to one person, or puts it into their next digest. Nothing is written for people
 * without an address, or for a digest that is planned already. Planning it again has no effect.
 */
export const scheduleMail = async (
  work: WorkerWork,
  { id, workspace_id, kind, created_at }: Notification,
  {
    user,
    mail,
    preferences,
  }: { user: User; mail: PersonMail | undefined; preferences: NotificationPreferences | undefined },
): Promise<void> => {
  if (mail?.email === undefined || work.settings.mailFrom === undefined) return
  const way = mailWay(preferences, kind)
  if (way === 'at_once') {
    const now = work.clock.now()
    const send_at = Math.max(now, created_at + UNSEEN_FOR)
    await ifUnchanged(
      work.table.transact([
        NotificationMailEntity.create({
          notification_id: id,
          user_id: user.id,
          workspace_id,
          state: 'waiting',
          send_at,
          tries: 0,
          locked_until: 0,
          created_at: now,
          due_at: send_at,
        }),
      ]),
    )
  }
  if (way === 'digest' && !mail.digest_off) await addToDigest(work, user, mail, { workspace_id, created_at })
}

const addToDigest = async (
  { table, clock }: WorkerWork,
  user: User,
  known: PersonMail,
  { workspace_id, created_at }: Pick<Notification, 'workspace_id' | 'created_at'>,
): Promise<void> => {
  const now = clock.now()
  const covers = (mail: PersonMail): boolean =>
    mail.digest !== undefined && mail.digest.at > now + COMPOSING && mail.digest.workspace_ids.includes(workspace_id)
  if (covers(known)) return
  await retryOnConflict(async () => {
    const mail = await table.get(PersonMailEntity, { user_id: user.id })
    if (mail?.email === undefined || mail.digest_off || covers(mail)) return
    const at = mail.digest?.at ?? nextDigestAt(now, user.time_zone, mail.digest_day)
    const workspace_ids = [...new Set([...(mail.digest?.workspace_ids ?? []), workspace_id])]
    await table.transact([
      PersonMailEntity.update(
        { user_id: user.id },
        {
          set: {
            digest: { at, workspace_ids, tries: mail.digest?.tries ?? 0, locked_until: mail.digest?.locked_until ?? 0 },
            digest_from: Math.min(mail.digest_from ?? created_at, created_at),
            due_at: mail.due_at ?? at,
          },
          add: { revision: 1 },
        },
        { where: { revision: mail.revision } },
      ),
    ])
  })
}
