import * as z from 'zod'
import { nextCheckAt } from '#shared/foundation/overdue/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { sendDigest } from './digest.ts'
import { NotificationMailEntity, PersonMailEntity } from './entity.ts'
import { sendNotificationMail } from './send.ts'

/** Message on the queue `notifications`: send an e-mail that is due. Without a notification, the person's digest. */
export const MailWake = z.object({
  kind: z.literal('mail'),
  user_id: z.string(),
  notification_id: z.string().optional(),
})

export type MailWake = z.infer<typeof MailWake>

/** Sends the e-mail of a message, if it is still to be sent. */
export const handleMailWake = (work: WorkerWork, { user_id, notification_id }: MailWake): Promise<void> =>
  notification_id === undefined ? sendDigest(work, user_id) : sendNotificationMail(work, { notification_id, user_id })

/** Wakes the worker for an e-mail about a notification, for the sweeper. */
export const handleDueNotificationMail = async (work: WorkerWork, key: Key): Promise<void> => {
  const mail = await work.table.getByKey(NotificationMailEntity, key)
  const now = work.clock.now()
  if (mail?.due_at === undefined || mail.due_at > now) return
  const { notification_id, user_id, workspace_id } = mail
  const body: MailWake = { kind: 'mail', user_id, notification_id }
  await work.queues.send('notifications', [{ body, group: workspace_id }])
  const due_at = nextCheckAt(now, mail.send_at)
  await ifUnchanged(
    work.commit([NotificationMailEntity.update(mail, { set: { due_at } }, { where: { due_at: mail.due_at } })]),
  )
}

/** Wakes the worker for a digest, for the sweeper. */
export const handleDueDigest = async (work: WorkerWork, key: Key): Promise<void> => {
  const mail = await work.table.getByKey(PersonMailEntity, key)
  const now = work.clock.now()
  if (mail?.due_at === undefined || mail.due_at > now) return
  const { user_id, digest } = mail
  const body: MailWake = { kind: 'mail', user_id }
  if (digest) await work.queues.send('notifications', [{ body, group: user_id }])
  const due_at = digest && nextCheckAt(now, digest.at)
  await ifUnchanged(
    work.commit([PersonMailEntity.update(mail, { set: { due_at } }, { where: { due_at: mail.due_at } })]),
  )
}
