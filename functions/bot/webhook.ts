import * as z from 'zod'
import { handleUpdate } from '#shared/domain/bot/handle-update.ts'
import { BotUpdate } from '#shared/domain/bot/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countingFailures } from './counting-failures.ts'

const receive = defineEndpoint({
  id: 'console.bot.receiveUpdate',
  group: 'console',
  method: 'POST',
  path: '/console/bot/webhook',
  caller: 'none',
  summary: 'For the Bot API only: an update of the platform’s bot',
  description:
    'Telegram sends updates here, with the bot’s webhook secret in `X-Telegram-Bot-Api-Secret-Token`. An update is answered ' +
    'once, however often it comes. `conflict` with `Retry-After` means that it is to be sent again.',
  body: BotUpdate,
  // An update that is refused comes again for hours: nothing in one is worth that, and little of it is kept.
  anyJson: true,
  response: () => z.object({}).meta({ id: 'BotUpdateTaken', description: 'Always empty.' }),
  errors: ['unauthorized', 'rate_limited', 'conflict'],
  needs: ['table:read', 'table:write', 'bot'],
  handler: ({ work, body, request }) =>
    countingFailures(work, () => handleUpdate(work, request.headers['x-telegram-bot-api-secret-token'], body)),
})

export const webhookEndpoints = [receive]
