import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const botUpdate = () =>
  z.object({
    bot_id: z.string(),
    update_id: z.number(),
    state: z.enum(['claimed', 'done']),
    /** The request that processes the update. Another may take over after `locked_until`. */
    owner: z.string(),
    locked_until: z.number(),
    /** The workspace that the person joined through this update, whose reply may still be pending. */
    joined_workspace_id: z.string().optional(),
    /** Set once this update answered an agent's question, while the reply may still be pending. */
    answered_question: z.literal(true).optional(),
    created_at: z.number(),
    expires_at: z.number(),
  })

export type BotUpdateRecord = z.infer<ReturnType<typeof botUpdate>>

/** An update received from the Bot API, so that redeliveries are answered once. Ids are unique per bot. */
export const BotUpdateEntity = defineEntity({
  name: 'bot-update',
  schema: botUpdate,
  pk: 'BOT#{bot_id}#{update_id}',
  sk: 'UPDATE',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 2 },
  expires: (item) => item.expires_at,
})

const botChat = () =>
  z.object({
    /** For example `telegram:42`. In a private chat, the chat id is the person's id. */
    identity: z.string(),
    /** False once the person blocked the bot, until they write to it again. */
    can_be_written_to: z.boolean(),
    /** When the person last wrote to the bot. */
    heard_at: z.number(),
  })

export type BotChat = z.infer<ReturnType<typeof botChat>>

/** A person's chat with the platform's bot. Exists once they wrote to it, with or without an account. */
export const BotChatEntity = defineEntity({
  name: 'bot-chat',
  schema: botChat,
  pk: 'IDENTITY#{identity}',
  sk: 'CHAT',
  personal: { contact: ['identity'] },
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
})
