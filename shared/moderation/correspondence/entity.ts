import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const DECISIONS = [
  'app.approved',
  'app.relisted',
  'app.rejected',
  'app.delisted',
  'app.suspended',
  'app.unsuspended',
  'version.approved',
  'version.rejected',
  'revision.approved',
  'revision.rejected',
] as const

const decision = () =>
  z.object({
    code: z.enum(DECISIONS),
    /** Decisions about a version. */
    version: z.string().optional(),
    /** Decisions about a revision: the changed fields. */
    fields: z.array(z.string()).optional(),
    /** The moderator's own words. */
    reason: z.string().optional(),
  })

/** Decision that a message reports. Pages tell it in their reader's language. */
export type Decision = z.infer<ReturnType<typeof decision>>

const appMessage = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    author: z.object({ type: z.enum(['developer', 'moderator']), id: z.string(), name: z.string() }),
    /** English, also of a decision. */
    text: z.string(),
    /** Absent on messages that somebody wrote. */
    decision: decision().optional(),
    created_at: createdAt(),
  })

export type AppMessage = z.infer<ReturnType<typeof appMessage>>

/** A message between an app's developer and the moderators. */
export const AppMessageEntity = defineEntity({
  name: 'app-message',
  schema: appMessage,
  pk: 'APP#{app_id}',
  sk: 'MSG#{id}',
  personal: { names: ['author'], text: ['text', 'decision'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const appThread = () =>
  z.object({
    app_id: z.string(),
    developer_id: z.string(),
    /** The side that has to reply: the moderators if the developer wrote last. */
    waits_for: z.enum(['moderator', 'developer']),
    last_message_id: z.string(),
    last_message_at: z.number(),
  })

/** List of the apps whose correspondence waits for a reply from the moderators or the developer. */
export const threadsWaitingFor = (whom: 'moderator' | 'developer'): string => `app-threads-${whom}`

/** The state of an app's correspondence. Each message rewrites the whole record, which moves it between lists. */
export const AppThreadEntity = defineEntity({
  name: 'app-thread',
  schema: appThread,
  pk: 'APP#{app_id}',
  sk: 'THREAD',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ waits_for, last_message_id }) => ({ list: threadsWaitingFor(waits_for), sort: last_message_id }),
})
