import { type BuiltFiles, builtFolders, openBuiltFiles } from '#shared/http/built-files.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { pageBrand } from '#shared/kernel/brand.ts'
import { adminPage } from '#web/admin/page.ts'
import type { PageBuild } from '#web/built/files.ts'
import { SECURITY_POLICY } from '#web/built/headers.ts'
import { answerPage, pageAssets } from './support/built-page.ts'

const about = { group: 'admin', method: 'GET', caller: 'none', lenient: true } as const

/** Serves the admin page from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const build = async (): Promise<PageBuild> => JSON.parse(await files.text('admin-files.json'))

  return [
    defineEndpoint({
      ...about,
      id: 'admin.page.read',
      path: '/staff',
      summary: 'Get the admin page',
      description:
        'Available without credentials, and contains no data. The page loads its data from the endpoints under ' +
        '`/admin`, with the admin’s token.',
      produces: 'text/html',
      conditional: true,
      handler: async ({ request, work }) =>
        answerPage(
          request.headers,
          { html: adminPage(await build(), pageBrand(work.settings)), securityPolicy: SECURITY_POLICY },
          { 'x-frame-options': 'DENY' },
        ),
    }),
    pageAssets({
      group: 'admin',
      path: '/staff',
      summary: 'Get a script or style sheet of the admin page',
      build,
      files,
    }),
  ]
}

export const endpoints = pageEndpoints(openBuiltFiles(builtFolders('admin-assets')))
