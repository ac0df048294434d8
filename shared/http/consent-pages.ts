import { pageBrand } from '../kernel/brand.ts'
import { pickLanguage, type Translate, translator } from '../kernel/messages.ts'
import type { Settings } from '../kernel/settings.ts'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { RawResponse } from './response.ts'

/** Content of a consent page. */
interface ConsentPageOptions {
  brand: ReturnType<typeof pageBrand>
  /** Language of the page, one of its `languages`. */
  language: string
  t: Translate
  entry: 'page' | 'mini_app'
  /** Kind of client that asks: an app for a workspace, or a person's assistant. */
  asks: 'app' | 'host'
  localSignIn: boolean
  loginWidget: boolean
}

interface ConsentPages {
  group: 'oauth' | 'connect'
  asks: ConsentPageOptions['asks']
  /** Languages that the page exists in. The first is the default. */
  languages: readonly string[]
  /** Renders the page. It belongs to the browser's code, which this layer doesn't import. */
  render(options: ConsentPageOptions): { html: string; headers: Record<string, string> }
}

/** Declares the consent page of an authorization server, and its form inside the messenger. */
export const consentPageEndpoints = ({ group, asks, languages, render }: ConsentPages): Endpoint[] => {
  const about = {
    group,
    method: 'GET',
    caller: 'none',
    anonymous: 'read',
    lenient: true,
    description:
      'Available without credentials, and contains no data. The page loads its data with the person’s session.',
    produces: 'text/html',
  } as const
  const answer = (
    entry: ConsentPageOptions['entry'],
    settings: Settings,
    { headers: asked }: { headers: Record<string, string> },
  ): RawResponse => {
    const language = pickLanguage(asked['accept-language'], languages)
    const { html, headers } = render({
      brand: pageBrand(settings),
      language,
      t: translator(language),
      entry,
      asks,
      localSignIn: settings.consoleAutoProvision,
      // The local stand-in for Telegram has none.
      loginWidget: settings.telegramLinkUrl === 'https://t.me',
    })
    return new RawResponse(200, headers, html)
  }
  const summary = `Get the consent page${asks === 'host' ? ' for hosts' : ''}`
  return [
    defineEndpoint({
      ...about,
      id: `${group}.consent.page`,
      path: `/${group}/consent`,
      summary,
      handler: async ({ work, request }) => answer('page', work.settings, request),
    }),
    defineEndpoint({
      ...about,
      id: `${group}.consent.miniApp`,
      path: `/${group}/consent/mini-app`,
      summary: asks === 'host' ? `${summary} in the messenger` : `${summary} for the messenger`,
      handler: async ({ work, request }) => answer('mini_app', work.settings, request),
    }),
  ]
}
