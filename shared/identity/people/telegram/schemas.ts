import * as z from 'zod'

/** Body of `POST /console/bot/webapp-auth`. */
export const WebAppAuth = () =>
  z
    .strictObject({
      init_data: z.string().meta({
        description: '`Telegram.WebApp.initData`, unchanged.',
        example: 'query_id=AAH…&user=%7B%22id%22%3A42%2C…%7D&auth_date=1795256130&signature=…&hash=…',
      }),
    })
    .meta({ id: 'WebAppAuth' })

const value = () => z.union([z.string(), z.number()])

/** Body of `POST /console/bot/widget-auth`. Keeps unlisted fields, because the signature covers them. */
export const WidgetAuth = () =>
  z
    .object({
      id: value().meta({ description: 'The person’s Telegram id.', example: 42 }),
      first_name: value().optional(),
      last_name: value().optional(),
      username: value().optional(),
      photo_url: value().optional(),
      auth_date: value().meta({ description: 'Unix time in seconds.', example: 1_795_256_130 }),
      hash: z.string().meta({ description: 'HMAC-SHA-256 of all other fields, in hex.' }),
    })
    .catchall(value())
    .meta({ id: 'WidgetAuth', description: 'All fields from the login widget, unchanged.' })
