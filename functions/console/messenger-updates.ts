import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countFailedSignIns } from '#shared/http/failed-authentications.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { AccountUpdate, receiveUpdate } from '#shared/messaging/messenger/index.ts'

const receive = defineEndpoint({
  id: 'console.messenger.updates.receive',
  group: 'console',
  method: 'POST',
  path: '/console/messenger/updates/{id}',
  params: { id: 'account' },
  caller: 'none',
  summary: 'Receive an update of a connected bot (Bot API only)',
  description:
    'Telegram sends updates here, with the account’s own secret in `X-Telegram-Bot-Api-Secret-Token`. Each update ' +
    'counts once, even if it is delivered several times. Only private chats are handled: updates from groups and ' +
    'channels, and unknown kinds of updates, aren’t stored.',
  body: AccountUpdate,
  anyJson: true,
  maxBodyBytes: LIMITS.bodyBytes,
  response: () => z.object({}).meta({ id: 'MessengerUpdateTaken', description: 'Always empty.' }),
  errors: ['unauthorized', 'rate_limited', 'conflict'],
  needs: ['table:read', 'table:write', 'queue:dispatch'],
  handler: ({ work, params, body, request }) => {
    const secret = request.headers['x-telegram-bot-api-secret-token']
    return countFailedSignIns(work, () => receiveUpdate(work, params.id, secret, body))
  },
})

export const endpoints = [receive]
