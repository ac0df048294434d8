import { RawAnswer } from '#shared/http/answer.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { type ConsentPage, consentPage, type Entry } from '#web/consent/page.ts'

const about = {
  group: 'oauth',
  method: 'GET',
  caller: 'none',
  lenient: true,
  description: 'Open to everybody and without data of its own: what it shows it asks for with the person’s session.',
  produces: 'text/html',
} as const

/** Telegram's own pages sign in for its own bots only; locally a stand-in takes their place, which has no widget. */
const hasLoginWidget = ({ telegram }: Settings): boolean => telegram.linkUrl === 'https://t.me'

const pageFor = (entry: Entry, settings: Settings): ConsentPage =>
  consentPage({ entry, localSignIn: settings.consoleAutoProvision, loginWidget: hasLoginWidget(settings) })

const answer = ({ html, securityPolicy }: ConsentPage, headers: Record<string, string> = {}): RawAnswer =>
  new RawAnswer(
    200,
    {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': securityPolicy,
      // The address holds the request's nonce.
      'referrer-policy': 'no-referrer',
      ...headers,
    },
    html,
  )

const page = defineEndpoint({
  ...about,
  id: 'oauth.consent.page',
  path: '/oauth/consent',
  summary: 'The consent page, for people',
  handler: async ({ work }) => answer(pageFor('page', work.settings), { 'x-frame-options': 'DENY' }),
})

/** X-Frame-Options cannot name an origin: who may frame this page stands in its policy alone. */
const miniApp = defineEndpoint({
  ...about,
  id: 'oauth.consent.miniApp',
  path: '/oauth/consent/mini-app',
  summary: 'The consent page inside the messaging app',
  handler: async ({ work }) => answer(pageFor('mini_app', work.settings)),
})

export const consentPageEndpoints = [page, miniApp]
