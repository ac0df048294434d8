import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Parts of a workspace that pages show. Each has a number that increases with every change. */
export const TOPICS = ['runs', 'approvals', 'tasks', 'messages', 'messenger', 'notifications', 'installations'] as const
export type Topic = (typeof TOPICS)[number]

const n = () => z.number().optional()

const numbers = () => ({
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

const updates = () =>
  z.object({
    workspace_id: z.string(),
    ...numbers(),
    /** Time until which a page may have a live connection to this workspace, in epoch ms. Before it, changes are pushed. */
    live_until: n(),
    /** Time until which changes are counted, in epoch ms. Reading the counters moves it. */
    watched_until: n(),
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

const personUpdates = () => z.object({ workspace_id: z.string(), user_id: z.string(), ...numbers() })

export type PersonUpdates = z.infer<ReturnType<typeof personUpdates>>

/**
 * Change counters of what only one person of a workspace may see, such as their conversations. A page adds them to the
 * workspace's, so that nobody can tell when somebody else chats.
 */
export const PersonUpdatesEntity = defineEntity({
  name: 'person-updates',
  schema: personUpdates,
  pk: 'WS#{workspace_id}',
  sk: 'UPDATES#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})
