import { RawAnswer } from '#shared/http/answer.ts'
import type { BuiltFiles } from '#shared/http/built-files.ts'
import { cached } from '#shared/http/cached.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import type { PageBuild } from '#web/built/files.ts'
import { assetHeaders, pageHeaders } from '#web/built/headers.ts'
import { consolePage, type Entry } from '#web/console/page.ts'

const about = { group: 'console', method: 'GET', caller: 'none', lenient: true } as const

const description =
  'Open to everybody and without data of its own: what it shows it asks for with the person’s session, over the endpoints ' +
  'under `/console`.'

/** Telegram's own pages sign in for its own bots only; locally a stand-in takes their place, which has no widget. */
const hasLoginWidget = ({ telegram }: Settings): boolean => telegram.linkUrl === 'https://t.me'

/** Where the bucket answers browsers: the page's function has no right to it, and does not know its name. */
const uploadsOf = ({ consoleAutoProvision: local }: Settings): string[] =>
  local ? ['http://127.0.0.1:*'] : ['https://*.amazonaws.com', 'https://*.amazonaws.com.cn']

/** The console for people, from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const build = async (): Promise<PageBuild> => JSON.parse(await files.text('console-files.json'))

  const page = async (
    entry: Entry,
    settings: Settings,
    asked: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<RawAnswer> => {
    const options = {
      entry,
      localSignIn: settings.consoleAutoProvision,
      loginWidget: hasLoginWidget(settings),
      uploads: uploadsOf(settings),
    }
    const { html, securityPolicy } = consolePage(options, await build())
    return cached(asked, sha256(html + securityPolicy), { ...pageHeaders(securityPolicy), ...headers }, html)
  }

  return [
    defineEndpoint({
      ...about,
      id: 'console.page.read',
      path: '/app',
      summary: 'The console, for people',
      description,
      produces: 'text/html',
      conditional: true,
      handler: ({ work, request }) => page('page', work.settings, request.headers, { 'x-frame-options': 'DENY' }),
    }),
    // X-Frame-Options cannot name an origin: who may frame this page stands in its policy alone.
    defineEndpoint({
      ...about,
      id: 'console.page.miniApp',
      path: '/app/mini-app',
      summary: 'The console inside the messaging app',
      description,
      produces: 'text/html',
      conditional: true,
      handler: ({ work, request }) => page('mini_app', work.settings, request.headers),
    }),
    defineEndpoint({
      ...about,
      id: 'console.page.asset',
      path: '/app/assets/{file}',
      params: { file: 'text' },
      summary: 'Scripts and styles of the console',
      description: 'Under names that change with their content, so that they may be kept for a year.',
      produces: ['text/javascript', 'text/css'],
      errors: ['not_found'],
      handler: async ({ params }) => {
        // Names come from the build's own table, never from the request.
        const file = (await build()).files.find(({ name }) => name === params.file)
        if (!file) throw fail('not_found', { message: 'There is no such file.', fix: 'Load the page at /app again.' })
        return new RawAnswer(200, assetHeaders(file.contentType), await files.text(file.name))
      },
    }),
  ]
}
