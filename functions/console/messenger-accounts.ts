import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  AccountSchema,
  ConnectBot,
  ConnectUser,
  connectBot,
  connectUser,
  presentAccount,
  removeAccount,
  ShareAccount,
  shareAccount,
} from '#shared/messaging/messenger/index.ts'
import { listAccounts } from '#shared/work/threads/index.ts'

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.list',
  method: 'GET',
  path: '/console/messenger/accounts',
  summary: 'List the messenger accounts you can see',
  description:
    'Lists the workspace’s bots, personal accounts shared with the workspace, and your own accounts, newest first.',
  list: {
    read: ({ work, caller }, page) => listAccounts(work, caller, page),
    present: (account) => presentAccount(account),
  },
  response: AccountSchema,
})

const bot = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.connectBot',
  method: 'POST',
  path: '/console/messenger/accounts/bot',
  role: 'admin',
  summary: 'Connect a bot by its token',
  description:
    'Checks the token with Telegram, stores it encrypted, and points the bot’s webhook to the platform. The token is ' +
    'never shown again. A bot can be connected only once on the whole platform (`conflict`). If a bot’s token was ' +
    'revoked, connect it again with its new token; it keeps its threads. If the bot already sends its updates ' +
    'elsewhere, send `take_over`.',
  body: ConnectBot,
  status: 201,
  response: AccountSchema,
  errors: ['conflict'],
  needs: ['bot', 'keys:data', 'outgoing'],
  handler: ({ work, caller, body }) => connectBot(work, caller, body),
})

const user = defineEndpoint({
  ...common,
  id: 'console.messenger.accounts.connectUser',
  method: 'POST',
  path: '/console/messenger/accounts/user',
  summary: 'Connect your personal account',
  description:
    'Uses Telegram Business. The response says what to do in Telegram, and the account becomes active once Telegram ' +
    'reports the connection to the platform’s bot. The account is private: nobody else, including admins, sees its ' +
    'threads unless you share it. Calling this again returns the same account. You can connect your account in one ' +
    'workspace only (`conflict`).',
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
  summary: 'Share your personal account with the workspace or stop sharing it',
  description: 'Only the account’s owner can do this. A bot is always shared (`conflict`).',
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
  summary: 'Disconnect an account and delete its threads from the platform',
  description:
    'Admins can disconnect bots and shared personal accounts, and you can disconnect your own account. From that ' +
    'moment nothing is sent, and drafts become void. Then the bot’s webhook is removed, its token is erased, and the ' +
    'threads are deleted. Nothing is deleted in Telegram. Remove the platform’s bot from your Telegram Business ' +
    'settings yourself.',
  status: 204,
  errors: ['admin_required', 'conflict'],
  handler: async ({ work, caller, params }) => {
    await removeAccount(work, caller, params.id)
    return undefined
  },
})

export const endpoints = [list, bot, user, share, remove]
