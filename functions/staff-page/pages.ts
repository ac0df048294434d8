import { RawAnswer } from '#shared/http/answer.ts'
import type { BuiltFiles } from '#shared/http/built-files.ts'
import { cached } from '#shared/http/cached.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { adminPage, SECURITY_POLICY } from '#web/admin/page.ts'
import type { PageBuild } from '#web/built/files.ts'
import { assetHeaders, pageHeaders } from '#web/built/headers.ts'

const about = { group: 'admin', method: 'GET', caller: 'none', lenient: true } as const

/** The page for the platform’s staff, from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const build = async (): Promise<PageBuild> => JSON.parse(await files.text('admin-files.json'))

  return [
    defineEndpoint({
      ...about,
      id: 'admin.page.read',
      path: '/staff',
      summary: 'The page for the platform’s staff',
      description:
        'Open to everybody and without data of its own: what it shows it asks for with the admin’s token, over the ' +
        'endpoints under `/admin`.',
      produces: 'text/html',
      conditional: true,
      handler: async ({ request }) => {
        const html = adminPage(await build())
        const headers = { ...pageHeaders(SECURITY_POLICY), 'x-frame-options': 'DENY' }
        return cached(request.headers, sha256(html + SECURITY_POLICY), headers, html)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'admin.page.asset',
      path: '/staff/assets/{file}',
      params: { file: 'text' },
      summary: 'Scripts and styles of the staff’s page',
      description: 'Under names that change with their content, so that they may be kept for a year.',
      produces: ['text/javascript', 'text/css'],
      errors: ['not_found'],
      handler: async ({ params }) => {
        // Names come from the build's own table, never from the request.
        const file = (await build()).files.find(({ name }) => name === params.file)
        if (!file) throw fail('not_found', { message: 'There is no such file.', fix: 'Load the page at /staff again.' })
        return new RawAnswer(200, assetHeaders(file.contentType), await files.text(file.name))
      },
    }),
  ]
}
