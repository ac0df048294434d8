import { pageBrand } from '../kernel/brand.ts'
import type { Settings } from '../kernel/settings.ts'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { RawResponse } from './response.ts'

/** What a consent page shows. */
interface ConsentPageOptions {
  brand: ReturnType<typeof pageBrand>
  entry: 'page' | 'mini_app'
  /** Who asks: an app for a workspace, or a person's assistant. */
  asks: 'app' | 'host'
  localSignIn: boolean
  loginWidget: boolean
}

interface ConsentPages {
  group: 'oauth' | 'connect'
  asks: ConsentPageOptions['asks']
  /** Renders the page. It belongs to the browser's code, which this layer doesn't import. */
  render(options: ConsentPageOptions): { html: string; headers: Record<string, string> }
}

/** Declares the consent page of an authorization server, and its form inside the messenger. */
export const consentPageEndpoints = ({ group, asks, render }: ConsentPages): Endpoint[] => {
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
  const answer = (entry: ConsentPageOptions['entry'], settings: Settings): RawResponse => {
    const { html, headers } = render({
      brand: pageBrand(settings),
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
      handler: async ({ work }) => answer('page', work.settings),
    }),
    defineEndpoint({
      ...about,
      id: `${group}.consent.miniApp`,
      path: `/${group}/consent/mini-app`,
      summary: asks === 'host' ? `${summary} in the messenger` : `${summary} for the messenger`,
      handler: async ({ work }) => answer('mini_app', work.settings),
    }),
  ]
}
