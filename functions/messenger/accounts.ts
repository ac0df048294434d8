import { listAccounts } from '#shared/domain/messenger/accounts.ts'
import { connectBot } from '#shared/domain/messenger/connect-bot.ts'
import { connectUser } from '#shared/domain/messenger/connect-user.ts'
import { presentAccount } from '#shared/domain/messenger/present.ts'
import { removeAccount } from '#shared/domain/messenger/remove.ts'
import { AccountSchema, ConnectBot, ConnectUser, ShareAccount } from '#shared/domain/messenger/schemas.ts'
import { shareAccount } from '#shared/domain/messenger/share.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.list',
  method: 'GET',
  path: '/console/messenger/accounts',
  summary: 'List the messenger accounts that you see',
  description: 'The workspace’s bots, personal accounts that are shared with it, and your own; newest first.',
  query: () => pageQuery({}),
  list: 'page',
  response: AccountSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.messenger.accounts.list'],
      query,
      (options) => listAccounts(work, caller, options),
      (account) => presentAccount(account),
    ),
})

const bot = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.connectBot',
  method: 'POST',
  path: '/console/messenger/accounts/bot',
  role: 'admin',
  summary: 'Connect a bot by its token',
  description:
    'The token is checked with Telegram, kept encrypted and never shown again, and the bot’s webhook is pointed here. A bot ' +
    'is connected once on the whole platform (`conflict`). One whose token was revoked is connected again with its new ' +
    'token and keeps its chats. A bot that sends its updates elsewhere needs `take_over`.',
  body: ConnectBot,
  status: 201,
  response: AccountSchema,
  errors: ['conflict'],
  needs: ['bot', 'keys:data'],
  handler: ({ work, caller, body }) => connectBot(work, caller, body),
})

const user = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.connectUser',
  method: 'POST',
  path: '/console/messenger/accounts/user',
  summary: 'Connect your personal account',
  description:
    'Through Telegram Business: the answer says what to do in Telegram; the account is active once Telegram tells the ' +
    'platform’s bot of the connection. It belongs to you alone: nobody else sees its chats, admins neither, unless you share ' +
    'it. Asked again, it answers with the same account. A person connects their account in one workspace (`conflict`).',
  body: ConnectUser,
  status: 201,
  response: AccountSchema,
  errors: ['conflict'],
  needs: ['bot'],
  handler: ({ work, caller, body }) => connectUser(work, caller, body),
})

const share = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.share',
  method: 'PATCH',
  path: '/console/messenger/accounts/{id}',
  params: { id: 'account' },
  summary: 'Share your personal account with the workspace, or no longer',
  description: 'Only the person whose account it is does. A bot is always shared (`conflict`).',
  body: ShareAccount,
  response: AccountSchema,
  errors: ['conflict', 'forbidden'],
  handler: ({ work, caller, params, body }) => shareAccount(work, caller, params.id, body.shared),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.remove',
  method: 'DELETE',
  path: '/console/messenger/accounts/{id}',
  params: { id: 'account' },
  summary: 'Disconnect an account and remove its chats here',
  description:
    'A bot’s by an admin; a personal one by the person, and a shared one by an admin, too. Nothing is sent any more from that ' +
    'moment, and drafts are void. The bot’s webhook is then taken off, its token forgotten, and the chats are removed; in ' +
    'Telegram everything stays. Take the platform’s bot off your Telegram Business settings yourself.',
  status: 204,
  errors: ['admin_required', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await removeAccount(work, caller, params.id)
    return undefined
  },
})

export const accountEndpoints = [list, bot, user, share, remove]
