import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Parts of a workspace that pages show. Each has a number that increases with every change. */
export const TOPICS = ['runs', 'approvals', 'tasks', 'messages', 'messenger', 'notifications', 'installations'] as const
export type Topic = (typeof TOPICS)[number]

const n = () => z.number().optional()

const updates = () =>
  z.object({
    workspace_id: z.string(),
    runs: n(),
    approvals: n(),
    tasks: n(),
    messages: n(),
    messenger: n(),
    notifications: n(),
    installations: n(),
    /** Time of the last increase of `notifications`, in epoch ms. */
    notified_at: n(),
  })

export type Updates = z.infer<ReturnType<typeof updates>>

/** Change counters of a workspace, kept in one small record so that polling costs one read. */
export const UpdatesEntity = defineEntity({
  name: 'updates',
  schema: updates,
  pk: 'WS#{workspace_id}',
  sk: 'UPDATES',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
