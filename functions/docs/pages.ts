import { BASE_PLACEHOLDER, MANIFEST_DOCUMENT } from '#shared/domain/manifests/document.prebuilt.ts'
import { type RawAnswer, redirect } from '#shared/http/answer.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { cached } from './cached.ts'
import type { BuiltFiles } from './files.ts'

/** May be kept a while: it changes with a deployment only. */
const DESCRIPTION_HEADERS = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }

const about = { group: 'docs', method: 'GET', caller: 'none' } as const

/** The reference and the machine-readable descriptions, from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const serve = async (path: string, headers: Record<string, string>): Promise<RawAnswer> => {
    const file = await files.at(path)
    if (!file) throw fail('not_found', { message: 'There is no such file.', fix: 'Begin at /docs.' })
    const body = await files.text(file.file)
    return cached(headers, file.hash, { ...file.headers, 'content-type': file.contentType }, body)
  }

  let described: { baseUrl: string; text: string } | undefined

  return [
    defineEndpoint({
      ...about,
      id: 'docs.root.redirect',
      path: '/',
      summary: 'Go to the documentation',
      status: 302,
      handler: async ({ work }) => redirect(`${work.settings.baseUrl}/docs`),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.page.read',
      path: '/docs',
      summary: 'The documentation, for people',
      produces: 'text/html',
      handler: ({ request }) => serve('/docs', request.headers),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.assets.read',
      path: '/docs/assets/{file}',
      params: { file: 'text' },
      summary: 'Scripts and styles of the documentation',
      produces: 'application/octet-stream',
      handler: ({ params, request }) => serve(`/docs/assets/${params.file}`, request.headers),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.openapi.read',
      path: '/openapi.json',
      summary: 'The OpenAPI 3.1 document',
      produces: 'application/json',
      handler: async ({ work, request }) => {
        const { baseUrl } = work.settings
        if (described?.baseUrl !== baseUrl)
          described = { baseUrl, text: placed(await files.text('openapi.json'), baseUrl) }
        const headers = { ...DESCRIPTION_HEADERS, 'content-type': 'application/json; charset=utf-8' }
        return cached(request.headers, sha256(described.text), headers, described.text)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.manifestSchema.read',
      path: '/schemas/manifest.json',
      summary: 'The JSON Schema of manifests',
      produces: 'application/schema+json',
      handler: async ({ work, request }) => {
        const text = JSON.stringify(MANIFEST_DOCUMENT).replaceAll(BASE_PLACEHOLDER, work.settings.baseUrl)
        const headers = { ...DESCRIPTION_HEADERS, 'content-type': 'application/schema+json; charset=utf-8' }
        return cached(request.headers, sha256(text), headers, text)
      },
    }),
  ]
}

/** The document is built without knowing where it will be served; its one server stands for the base address. */
const placed = (text: string, baseUrl: string): string => {
  const { servers } = JSON.parse(text) as { servers: [{ url: string }] }
  return text.replaceAll(servers[0].url, baseUrl)
}
