import { type BuiltFiles, builtFolders, openBuiltFiles } from '#shared/http/built-files.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { pageBrand } from '#shared/kernel/brand.ts'
import type { PageBuild } from '#web/built/files.ts'
import { SECURITY_POLICY } from '#web/built/headers.ts'
import { developersPage } from '#web/developers/page.ts'
import { answerPage, pageAssets, pageTexts } from './support/built-page.ts'

/** Serves the developer portal from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const build = async (): Promise<PageBuild> => JSON.parse(await files.text('developers-files.json'))

  return [
    defineEndpoint({
      group: 'developer',
      method: 'GET',
      caller: 'none',
      lenient: true,
      id: 'developer.page.read',
      path: '/developers',
      summary: 'Get the developer portal',
      description:
        'Available without credentials, and contains no data. The page loads its data from the endpoints under ' +
        '`/api/v1/dev`, with the developer’s session.',
      produces: 'text/html',
      conditional: true,
      handler: async ({ request, work }) => {
        const built = await build()
        const options = { brand: pageBrand(work.settings), ...pageTexts(request.headers, built) }
        return answerPage(
          request.headers,
          { html: developersPage(built, options), securityPolicy: SECURITY_POLICY },
          { 'x-frame-options': 'DENY' },
        )
      },
    }),
    pageAssets({
      group: 'developer',
      path: '/developers',
      summary: 'Get a script or style sheet of the developer portal',
      build,
      files,
    }),
  ]
}

export const endpoints = pageEndpoints(openBuiltFiles(builtFolders('developers-assets')))
