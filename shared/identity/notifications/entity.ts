import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

/** Lifetime of a notification, in ms. */
export const NOTIFICATION_LIFE = 90 * 86_400_000

const message = () =>
  z.object({ text: z.string(), values: z.record(z.string(), z.union([z.string(), z.number()])).optional() })

const notification = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    /** Recipient. Absent if it is for everyone in the workspace. */
    user_id: z.string().optional(),
    /** Kind, such as `agent.notice`, `task.question` or `grant.revoked`. Selects the translated text. */
    kind: z.string(),
    /** Texts in English. */
    title: z.string(),
    body: z.string(),
    /**
     * Messages that the platform wrote, for translation into each reader's language. Of the body: its lines in order, as a
     * message for one line, or the number of lines that stay as they are. Absent for texts of agents and people.
     */
    messages: z
      .object({ title: message().optional(), body: z.array(z.union([message(), z.number()])).optional() })
      .optional(),
    /** Agent that sent the notification or is its subject. */
    installation_id: z.string().optional(),
    app_id: z.string().optional(),
    /** Record that the notification links to: a task, a run with its step, or a conversation. */
    target: z.object({ type: z.string(), id: z.string(), step_id: z.string().optional() }).optional(),
    created_at: createdAt(),
  })

export type Notification = z.infer<ReturnType<typeof notification>>

/** Returns the list of one person's notifications in a workspace, or of those for everyone. */
export const notificationsOf = (workspaceId: string, userId: string | undefined): string =>
  `${workspaceId}#NOTIFICATIONS#${userId ?? 'all'}`

export const NotificationEntity = defineEntity({
  name: 'notification',
  schema: notification,
  pk: 'WS#{workspace_id}',
  sk: 'NTF#{id}',
  personal: { text: ['title', 'body', 'messages'] },
  retention: {
    workspace: 'removed',
    person: 'removed',
    app: 'kept',
    partitions: ({ id }) => [['notification-delivery', { notification_id: id }]],
  },
  expires: ({ created_at }) => created_at + NOTIFICATION_LIFE,
  list: ({ workspace_id, user_id, id }) => ({ owner: notificationsOf(workspace_id, user_id), sort: id }),
})
