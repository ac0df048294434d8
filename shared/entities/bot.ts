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
