import * as z from 'zod'
import { receiveUpdate } from '#shared/domain/messenger/receive.ts'
import { AccountUpdate } from '#shared/domain/messenger/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countFailure } from '#shared/http/failures.ts'

const receive = defineEndpoint({
  id: 'console.messenger.updates.receive',
  group: 'console',
  method: 'POST',
  path: '/console/messenger/updates/{id}',
  params: { id: 'account' },
  caller: 'none',
  summary: 'For the Bot API only: an update of a connected bot',
  description:
    'Telegram sends updates here, with the account’s own secret in `X-Telegram-Bot-Api-Secret-Token`. An update counts ' +
    'once, however often it comes. Private chats only: of groups, channels and kinds that are not known nothing is kept.',
  body: AccountUpdate,
  anyJson: true,
  response: () => z.object({}).meta({ id: 'MessengerUpdateTaken', description: 'Always empty.' }),
  errors: ['unauthorized', 'rate_limited', 'conflict'],
  needs: ['table:read', 'table:write'],
  handler: async ({ work, params, body, request }) => {
    try {
      return await receiveUpdate(work, params.id, request.headers['x-telegram-bot-api-secret-token'], body)
    } catch (error) {
      throw await countFailure(work, work.sourceIp, error)
    }
  },
})

export const updateEndpoints = [receive]
