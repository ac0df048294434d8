import { botInfo } from '#shared/domain/bot/info.ts'
import { BotInfoSchema } from '#shared/domain/bot/schemas.ts'
import { ConsoleSessionSchema } from '#shared/domain/people/schemas.ts'
import { hashOfInitData } from '#shared/domain/people/telegram/init-data.ts'
import { WebAppAuth, WidgetAuth } from '#shared/domain/people/telegram/schemas.ts'
import { sessionStillLives, signInByInitData, signInByWidget } from '#shared/domain/people/telegram/sign-in.ts'
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
  replays: (work, _caller, body) => sessionStillLives(work, hashOfInitData(field(body, 'init_data'))),
  handler: ({ work, body }) => countingFailures(work, () => signInByInitData(work, body.init_data)),
})

const widget = defineEndpoint({
  ...common,
  id: 'console.bot.widgetAuth',
  path: '/console/bot/widget-auth',
  summary: 'Sign in with the login widget’s answer',
  description,
  body: WidgetAuth,
  replays: (work, _caller, body) => {
    const hash = field(body, 'hash')
    return sessionStillLives(work, typeof hash === 'string' ? hash : undefined)
  },
  handler: ({ work, body }) => countingFailures(work, () => signInByWidget(work, body)),
})

/** A field of a body that nobody has checked yet. */
const field = (body: unknown, name: string): unknown => (body as Record<string, unknown> | null)?.[name]

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
