import { type BuiltFiles, builtFolders, openBuiltFiles } from '#shared/http/built-files.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import type { RawResponse } from '#shared/http/response.ts'
import { pageBrand } from '#shared/kernel/brand.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import type { PageBuild } from '#web/built/files.ts'
import { consolePage, type Entry } from '#web/console/page.ts'
import { answerPage, pageAssets, pageTexts } from './support/built-page.ts'

const about = { group: 'console', method: 'GET', caller: 'none', lenient: true } as const

const description =
  'Available without credentials, and contains no data. The page loads its data from the endpoints under `/console`, with ' +
  'the person’s session.'

/** Returns whether the login widget is available. The local stand-in for Telegram has none. */
const hasLoginWidget = ({ telegramLinkUrl }: Settings): boolean => telegramLinkUrl === 'https://t.me'

/** Serves the console from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const build = async (): Promise<PageBuild> => JSON.parse(await files.text('console-files.json'))

  const page = async (
    entry: Entry,
    settings: Settings,
    requestHeaders: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<RawResponse> => {
    const built = await build()
    const { language, t } = pageTexts(requestHeaders, built)
    const options = {
      language,
      t,
      brand: pageBrand(settings),
      entry,
      localSignIn: settings.consoleAutoProvision,
      loginWidget: hasLoginWidget(settings),
      uploads: settings.uploadOrigin,
      live: settings.socketsUrl,
    }
    return answerPage(requestHeaders, consolePage(options, built), headers)
  }

  return [
    defineEndpoint({
      ...about,
      id: 'console.page.read',
      path: '/app',
      summary: 'Get the console',
      description,
      produces: 'text/html',
      conditional: true,
      needs: ['bucket:name', 'sockets:address'],
      handler: ({ work, request }) => page('page', work.settings, request.headers, { 'x-frame-options': 'DENY' }),
    }),
    // Sends no X-Frame-Options, which can't name an origin. The security policy says who may frame this page.
    defineEndpoint({
      ...about,
      id: 'console.page.miniApp',
      path: '/app/mini-app',
      summary: 'Get the console for the messenger',
      description,
      produces: 'text/html',
      conditional: true,
      needs: ['bucket:name', 'sockets:address'],
      handler: ({ work, request }) => page('mini_app', work.settings, request.headers),
    }),
    pageAssets({ group: 'console', path: '/app', summary: 'Get a script or style sheet of the console', build, files }),
  ]
}

export const endpoints = pageEndpoints(openBuiltFiles(builtFolders('console-assets')))
