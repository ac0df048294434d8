import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

/** Parts of a workspace that a page shows, each with a number that rises whenever something in it changed. */
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
    /** When `notifications` last rose, epoch ms. */
    notified_at: n(),
  })

export type Updates = z.infer<ReturnType<typeof updates>>

/** What changed in a workspace, as far as events told of it: one small record, so that asking is one read. */
export const UpdatesEntity = defineEntity<Updates>()({
  name: 'updates',
  schema: updates,
  pk: 'WS#{workspace_id}',
  sk: 'UPDATES',
})
