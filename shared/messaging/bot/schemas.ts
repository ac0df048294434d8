import * as z from 'zod'

/** `GET /console/bot/info`. */
export const BotInfoSchema = () =>
  z
    .object({
      username: z.string().nullable().meta({
        description: 'The bot’s username without `@`. Null while no bot is configured.',
        example: 'example_bot',
      }),
      url: z.string().nullable().meta({
        description: 'Link that opens a chat with the bot. Append a start parameter as `?start=`.',
        example: 'https://t.me/example_bot',
      }),
      login_widget: z.boolean().meta({ description: 'True if browsers can show the login widget for this bot.' }),
    })
    .meta({ id: 'BotInfo' })

export type BotInfoView = z.infer<ReturnType<typeof BotInfoSchema>>

/** An update of the Bot API. Only its id is required. Other kinds and unknown fields are ignored. */
export const BotUpdate = () =>
  z
    .object({
      update_id: z.int().nonnegative(),
      message: z.unknown().optional(),
      callback_query: z.unknown().optional(),
      business_connection: z.unknown().optional(),
      business_message: z.unknown().optional(),
      edited_business_message: z.unknown().optional(),
      deleted_business_messages: z.unknown().optional(),
    })
    .meta({ id: 'BotUpdate', description: 'See core.telegram.org/bots/api#update. Other fields are ignored.' })

export type BotUpdateInput = z.infer<ReturnType<typeof BotUpdate>>
