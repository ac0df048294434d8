import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

/** In ms. */
export const NOTIFICATION_LIFE = 90 * 86_400_000

const notification = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    /** Whom it is for; absent: everybody in the workspace. */
    user_id: z.string().optional(),
    /** What it is about, such as `agent.notice`, `task.question`, `grant.revoked`; texts in other languages go by it. */
    kind: z.string(),
    title: z.string(),
    body: z.string(),
    /** The agent that it comes from or is about. */
    installation_id: z.string().optional(),
    app_id: z.string().optional(),
    /** Where the person goes from it: a task, a run with its step, a conversation. */
    target: z.object({ type: z.string(), id: z.string(), step_id: z.string().optional() }).optional(),
    created_at: z.number(),
  })

export type Notification = z.infer<ReturnType<typeof notification>>

/** Where one person's, or everybody's, notifications of a workspace are listed. */
export const notificationsOf = (workspaceId: string, userId: string | undefined): string =>
  `${workspaceId}#NOTIFICATIONS#${userId ?? 'all'}`

export const NotificationEntity = defineEntity<Notification>()({
  name: 'notification',
  schema: notification,
  pk: 'WS#{workspace_id}',
  sk: 'NTF#{id}',
  expires: ({ created_at }) => created_at + NOTIFICATION_LIFE,
  list: ({ workspace_id, user_id, id }) => ({ owner: notificationsOf(workspace_id, user_id), sort: id }),
})
