import { defineEndpoint } from '#shared/http/endpoint.ts'
import { RawResponse } from '#shared/http/response.ts'
import { pageBrand } from '#shared/kernel/brand.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { consentPage, type Entry } from '#web/consent/page.ts'

const about = {
  group: 'connect',
  method: 'GET',
  caller: 'none',
  anonymous: 'read',
  lenient: true,
  description:
    'Available without credentials, and contains no data. The page loads its data with the person’s session.',
  produces: 'text/html',
} as const

const answer = (entry: Entry, settings: Settings): RawResponse => {
  const { html, headers } = consentPage({
    brand: pageBrand(settings),
    entry,
    asks: 'host',
    localSignIn: settings.consoleAutoProvision,
    // The local stand-in for Telegram has none.
    loginWidget: settings.telegramLinkUrl === 'https://t.me',
  })
  return new RawResponse(200, headers, html)
}

const page = defineEndpoint({
  ...about,
  id: 'connect.consent.page',
  path: '/connect/consent',
  summary: 'Get the consent page for hosts',
  handler: async ({ work }) => answer('page', work.settings),
})

const miniApp = defineEndpoint({
  ...about,
  id: 'connect.consent.miniApp',
  path: '/connect/consent/mini-app',
  summary: 'Get the consent page for hosts in the messenger',
  handler: async ({ work }) => answer('mini_app', work.settings),
})

export const endpoints = [page, miniApp]
