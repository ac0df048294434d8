import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countFailedSignIns } from '#shared/http/failed-authentications.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { BotUpdate, handleUpdate } from '#shared/messaging/bot/index.ts'
import { describeWaiting } from '#shared/messaging/waiting/index.ts'

const receive = defineEndpoint({
  id: 'console.bot.receiveUpdate',
  group: 'console',
  method: 'POST',
  path: '/console/bot/webhook',
  caller: 'none',
  summary: 'Receive an update of the platform’s bot (Bot API only)',
  description:
    'Telegram sends updates here, with the bot’s webhook secret in `X-Telegram-Bot-Api-Secret-Token`. Each update is ' +
    'answered once, even if it is delivered several times. `conflict` with `Retry-After` asks Telegram to send the ' +
    'update again.',
  body: BotUpdate,
  // Telegram repeats a refused update for hours, so any JSON is accepted. Little of an update is stored.
  anyJson: true,
  maxBodyBytes: LIMITS.bodyBytes,
  response: () => z.object({}).meta({ id: 'BotUpdateTaken', description: 'Always empty.' }),
  errors: ['unauthorized', 'rate_limited', 'conflict'],
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write', 'bot'],
  handler: ({ work, body, request }) =>
    countFailedSignIns(work, () =>
      handleUpdate(work, request.headers['x-telegram-bot-api-secret-token'], body, describeWaiting),
    ),
})

export const endpoints = [receive]
