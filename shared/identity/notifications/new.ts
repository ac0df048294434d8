import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Notification, NotificationEntity } from './entity.ts'
import type { NotificationEventType } from './events.ts'
import { type NotificationText, notificationTexts } from './texts.ts'

export interface NewNotification extends Omit<Notification, 'id' | 'created_at' | 'title' | 'body' | 'messages'> {
  title: NotificationText
  /** One text, or parts that each begin a line. */
  body: NotificationText | readonly NotificationText[]
}

/**
 * Creates a notification and the writes for it and its event `notification.created`. The event is visible to the agent
 * that sent the notification or is its subject (contract/events-and-webhooks.md#who-sees-an-event), in English.
 */
export const newNotification = (
  work: Work,
  { title: heading, body: text, ...input }: NewNotification,
): { notification: Notification; writes: Write[] } => {
  const notification: Notification = {
    ...input,
    ...notificationTexts(heading, Array.isArray(text) ? text : [text as NotificationText]),
    ...stampOf(work.id('notification')),
  }
  const { workspace_id, user_id, installation_id, app_id, title, body } = notification
  return {
    notification,
    writes: [
      NotificationEntity.create(notification),
      emitEvent<NotificationEventType>(work.clock, {
        type: 'notification.created',
        workspace_id,
        installation_id,
        app_id,
        private_to: user_id,
        data: { notification_id: notification.id, title, body, app_id: app_id ?? null },
        at: notification.created_at,
      }),
    ],
  }
}
