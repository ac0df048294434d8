import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const botUpdate = () =>
  z.object({
    bot_id: z.string(),
    update_id: z.number(),
    state: z.enum(['claimed', 'done']),
    /** The request that works on it; a later one takes over after `locked_until`. */
    owner: z.string(),
    locked_until: z.number(),
    /** The workspace that the person joined by it; its answer may be on its way still. */
    joined_workspace_id: z.string().optional(),
    created_at: z.number(),
    expires_at: z.number(),
  })

export type BotUpdateRecord = z.infer<ReturnType<typeof botUpdate>>

/** An update that the Bot API sent, so that one that comes again is answered once. Ids count per bot. */
export const BotUpdateEntity = defineEntity<BotUpdateRecord>()({
  name: 'bot-update',
  schema: botUpdate,
  pk: 'BOT#{bot_id}#{update_id}',
  sk: 'UPDATE',
  expires: (item) => item.expires_at,
})

const botChat = () =>
  z.object({
    /** Such as `telegram:42`; in a private chat the chat's id is the person's. */
    identity: z.string(),
    /** Whether the bot may write there: false once the person blocked it, until they write to it again. */
    can_be_written_to: z.boolean(),
    /** When the person last wrote to the bot. */
    heard_at: z.number(),
  })

export type BotChat = z.infer<ReturnType<typeof botChat>>

/** A person's chat with the platform's bot, known since they first wrote to it, whether they have an account or not. */
export const BotChatEntity = defineEntity<BotChat>()({
  name: 'bot-chat',
  schema: botChat,
  pk: 'IDENTITY#{identity}',
  sk: 'CHAT',
})
