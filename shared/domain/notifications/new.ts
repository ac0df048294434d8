import { type Notification, NotificationEntity } from '../../entities/notifications.ts'
import { tell } from '../../events/outbox.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

export type NewNotification = Omit<Notification, 'id' | 'created_at'>

/**
 * A notification of a workspace's people, and the event `notification.created`, which the agent that it comes from or is
 * about sees (decisions §6).
 */
export const newNotification = (
  work: Work,
  input: NewNotification,
): { notification: Notification; writes: Write[] } => {
  const notification: Notification = { ...input, id: work.id('notification'), created_at: work.clock.now() }
  const { id, workspace_id, user_id, installation_id, app_id, title, body } = notification
  return {
    notification,
    writes: [
      NotificationEntity.create(notification),
      tell(work.clock, {
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
