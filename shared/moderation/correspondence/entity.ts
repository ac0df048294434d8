import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const appMessage = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    author: z.object({ type: z.enum(['developer', 'moderator']), id: z.string(), name: z.string() }),
    text: z.string(),
    created_at: z.number(),
  })

export type AppMessage = z.infer<ReturnType<typeof appMessage>>

/** A message between an app's developer and the moderators. */
export const AppMessageEntity = defineEntity({
  name: 'app-message',
  schema: appMessage,
  pk: 'APP#{app_id}',
  sk: 'MSG#{id}',
  personal: { names: ['author'], text: ['text'] },
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
