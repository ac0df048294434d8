import type { Work } from '#shared/foundation/work/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countFailedSignIns } from '#shared/http/failed-authentications.ts'
import {
  ConsoleSessionSchema,
  isSessionLive,
  signInByInitData,
  signInByWidget,
  WebAppAuth,
  WidgetAuth,
} from '#shared/identity/people/index.ts'
import { BotInfoSchema, readBotInfo } from '#shared/messaging/bot/index.ts'

const common = {
  group: 'console',
  method: 'POST',
  caller: 'none',
  anonymous: 'signIn',
  response: ConsoleSessionSchema,
  errors: ['unauthorized', 'forbidden', 'rate_limited'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:console', 'keys:public', 'bot'],
  maxBodyBytes: 32_768,
} as const

const replays = (work: Work, _caller: unknown, _body: unknown, _params: unknown, kept: { body: string }) =>
  isSessionLive(work, kept)

const description =
  'The first sign-in creates the account and a workspace that the person owns. Both ways of signing in lead to the same ' +
  'account. The data is accepted once, within 10 minutes. Repeating the request with the same `Idempotency-Key` returns ' +
  'the same session while it is valid, so a page keeps its session when it is reloaded.'

const webApp = defineEndpoint({
  ...common,
  id: 'console.bot.webAppAuth',
  path: '/console/bot/webapp-auth',
  summary: 'Sign in with a Mini App’s init data',
  description,
  body: WebAppAuth,
  replays,
  handler: ({ work, body }) => countFailedSignIns(work, () => signInByInitData(work, body.init_data)),
})

const widget = defineEndpoint({
  ...common,
  id: 'console.bot.widgetAuth',
  path: '/console/bot/widget-auth',
  summary: 'Sign in with the login widget’s data',
  description,
  body: WidgetAuth,
  replays,
  handler: ({ work, body }) => countFailedSignIns(work, () => signInByWidget(work, body)),
})

const info = defineEndpoint({
  id: 'console.bot.info',
  group: 'console',
  method: 'GET',
  path: '/console/bot/info',
  caller: 'none',
  anonymous: 'read',
  summary: 'Get the address of the platform’s bot',
  response: BotInfoSchema,
  errors: ['conflict'],
  needs: ['bot'],
  handler: ({ work }) => readBotInfo(work),
})

export const endpoints = [webApp, widget, info]
