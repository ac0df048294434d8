import * as z from 'zod'

/** `POST /console/bot/webapp-auth`. */
export const WebAppAuth = () =>
  z
    .strictObject({
      init_data: z.string().meta({
        description: '`Telegram.WebApp.initData` as it is.',
        example: 'query_id=AAH…&user=%7B%22id%22%3A42%2C…%7D&auth_date=1795256130&signature=…&hash=…',
      }),
    })
    .meta({ id: 'WebAppAuth' })

const value = () => z.union([z.string(), z.number()])

/** `POST /console/bot/widget-auth`. Fields that are not listed belong to what was signed, so they are kept. */
export const WidgetAuth = () =>
  z
    .object({
      id: value().meta({ description: 'The person’s id at Telegram.', example: 42 }),
      first_name: value().optional(),
      last_name: value().optional(),
      username: value().optional(),
      photo_url: value().optional(),
      auth_date: value().meta({ description: 'Seconds since 1970.', example: 1_795_256_130 }),
      hash: z.string().meta({ description: 'HMAC-SHA-256 over all other fields, in hex.' }),
    })
    .catchall(value())
    .meta({ id: 'WidgetAuth', description: 'What the login widget gave, whole and unchanged.' })
