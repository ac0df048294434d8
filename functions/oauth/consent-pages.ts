import { defineEndpoint } from '#shared/http/endpoint.ts'
import { RawResponse } from '#shared/http/response.ts'
import { pageBrand } from '#shared/kernel/brand.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { type ConsentPage, consentPage, type Entry } from '#web/consent/page.ts'

const about = {
  group: 'oauth',
  method: 'GET',
  caller: 'none',
  anonymous: 'read',
  lenient: true,
  description:
    'Available without credentials, and contains no data. The page loads its data with the person’s session.',
  produces: 'text/html',
} as const

/** Returns whether the login widget is available. The local stand-in for Telegram has none. */
const hasLoginWidget = ({ telegramLinkUrl }: Settings): boolean => telegramLinkUrl === 'https://t.me'

const pageFor = (entry: Entry, settings: Settings): ConsentPage =>
  consentPage({
    brand: pageBrand(settings),
    entry,
    localSignIn: settings.consoleAutoProvision,
    loginWidget: hasLoginWidget(settings),
  })

const answer = ({ html, securityPolicy }: ConsentPage, headers: Record<string, string> = {}): RawResponse =>
  new RawResponse(
    200,
    {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': securityPolicy,
      // The address contains the request's nonce.
      'referrer-policy': 'no-referrer',
      ...headers,
    },
    html,
  )

const page = defineEndpoint({
  ...about,
  id: 'oauth.consent.page',
  path: '/oauth/consent',
  summary: 'Get the consent page',
  handler: async ({ work }) => answer(pageFor('page', work.settings), { 'x-frame-options': 'DENY' }),
})

/** Sends no X-Frame-Options, which can't name an origin. The security policy says who may frame this page. */
const miniApp = defineEndpoint({
  ...about,
  id: 'oauth.consent.miniApp',
  path: '/oauth/consent/mini-app',
  summary: 'Get the consent page for the messenger',
  handler: async ({ work }) => answer(pageFor('mini_app', work.settings)),
})

export const endpoints = [page, miniApp]
