import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { cleanName, cleanText } from '#shared/kernel/names.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Notification, NotificationEntity } from './entity.ts'
import type { NotificationEventType } from './events.ts'

export type NewNotification = Omit<Notification, 'id' | 'created_at'>

/**
 * Creates a notification and the writes for it and its event `notification.created`. Cleans its texts, which agents write
 * and which contain names: the title becomes one line, and hidden characters go. The event is visible to the agent
 * that sent the notification or is its subject (contract/events-and-webhooks.md#who-sees-an-event).
 */
export const newNotification = (
  work: Work,
  input: NewNotification,
): { notification: Notification; writes: Write[] } => {
  const notification: Notification = {
    ...input,
    title: cleanName(input.title, 300) || 'Notification',
    body: cleanText(input.body),
    id: work.id('notification'),
    created_at: work.clock.now(),
  }
  const { id, workspace_id, user_id, installation_id, app_id, title, body } = notification
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
        data: { notification_id: id, title, body, app_id: app_id ?? null },
      }),
    ],
  }
}
