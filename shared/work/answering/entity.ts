import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const chat = () =>
  z.object({
    conversation_id: z.string(),
    workspace_id: z.string(),
    /** Run that answers now, its installation and the message; absent while idle. */
    run_id: z.string().optional(),
    run_installation_id: z.string().optional(),
    message_id: z.string().optional(),
    /** Number of messages that wait for their turn. */
    waiting: z.number(),
    /** Deadline for the sweeper, while anything is open. */
    due_at: z.number().optional(),
  })

export type Chat = z.infer<ReturnType<typeof chat>>

/** State of the answers in a conversation, one message at a time. Created by its first message. */
export const ChatEntity = defineEntity({
  name: 'chat',
  schema: chat,
  pk: 'CNV#{conversation_id}',
  sk: 'CHAT',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
})

const waitingMessage = () => z.object({ conversation_id: z.string(), message_id: z.string() })

/** A message that waits until earlier ones are answered. The oldest is next. */
export const WaitingMessageEntity = defineEntity({
  name: 'waiting-message',
  schema: waitingMessage,
  pk: 'CNV#{conversation_id}',
  sk: 'WAITING#{message_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
