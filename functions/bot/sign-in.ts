import { botInfo } from '#shared/domain/bot/info.ts'
import { BotInfoSchema } from '#shared/domain/bot/schemas.ts'
import type { Work } from '#shared/domain/deps.ts'
import { ConsoleSessionSchema } from '#shared/domain/people/schemas.ts'
import { sessionStillLives } from '#shared/domain/people/sessions.ts'
import { WebAppAuth, WidgetAuth } from '#shared/domain/people/telegram/schemas.ts'
import { signInByInitData, signInByWidget } from '#shared/domain/people/telegram/sign-in.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { countingFailures } from './counting-failures.ts'

const common = {
  group: 'console',
  method: 'POST',
  caller: 'none',
  response: ConsoleSessionSchema,
  errors: ['unauthorized', 'forbidden', 'rate_limited'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:tokens', 'bot'],
  maxBodyBytes: 32_768,
} as const

const replays = (work: Work, _caller: unknown, _body: unknown, _params: unknown, kept: { body: string }) =>
  sessionStillLives(work, kept)

const description =
  'The first sign-in makes the account and a workspace that the person owns; both ways of signing in lead to the same ' +
  'account. The data is accepted once, within 10 minutes. With the same `Idempotency-Key` it gets the same session ' +
  'again for as long as that lives, so that a page keeps it over a reload.'

const webApp = defineEndpoint({
  ...common,
  id: 'console.bot.webAppAuth',
  path: '/console/bot/webapp-auth',
  summary: 'Sign in with a Mini App’s init data',
  description,
  body: WebAppAuth,
  replays,
  handler: ({ work, body }) => countingFailures(work, () => signInByInitData(work, body.init_data)),
})

const widget = defineEndpoint({
  ...common,
  id: 'console.bot.widgetAuth',
  path: '/console/bot/widget-auth',
  summary: 'Sign in with the login widget’s answer',
  description,
  body: WidgetAuth,
  replays,
  handler: ({ work, body }) => countingFailures(work, () => signInByWidget(work, body)),
})

const info = defineEndpoint({
  id: 'console.bot.info',
  group: 'console',
  method: 'GET',
  path: '/console/bot/info',
  caller: 'none',
  summary: 'Where people meet the platform’s bot',
  response: BotInfoSchema,
  errors: ['conflict'],
  needs: ['bot'],
  handler: ({ work }) => botInfo(work),
})

export const signInEndpoints = [webApp, widget, info]
