import { BASE_PLACEHOLDER, MANIFEST_DOCUMENT } from '#shared/domain/manifests/document.prebuilt.ts'
import { type RawAnswer, redirect } from '#shared/http/answer.ts'
import { cached } from '#shared/http/cached.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'

import type { BuiltFiles, DocsFile } from './files.ts'
import { LOCAL_ADDRESS } from './local-address.ts'

/** May be kept a while: it changes with a deployment only. */
const DESCRIPTION_HEADERS = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }

const about = { group: 'docs', method: 'GET', caller: 'none' } as const

/** The reference and the machine-readable descriptions, from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const known = async (path: string): Promise<DocsFile> => {
    const file = await files.at(path)
    if (!file) throw fail('not_found', { message: 'There is no such page.', fix: 'Begin at /docs.' })
    return file
  }

  const serveAsset = async (path: string, headers: Record<string, string>): Promise<RawAnswer> => {
    const file = await known(path)
    return cached(
      headers,
      file.hash,
      { ...file.headers, 'content-type': file.contentType },
      await files.text(file.file),
    )
  }

  /** A text that names addresses: this deployment's are put in. */
  const serve = async (path: string, headers: Record<string, string>, baseUrl: string): Promise<RawAnswer> => {
    const file = await known(path)
    const text = at(await files.text(file.file), baseUrl)
    return cached(headers, sha256(text), { ...file.headers, 'content-type': file.contentType }, text)
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
      description: 'The guides’ index, and an anchor for every error code: `error.docs_url` points here.',
      produces: 'text/html',
      conditional: true,
      handler: ({ request, work }) => serve('/docs', request.headers, work.settings.baseUrl),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.guide.read',
      path: '/docs/{page}',
      params: { page: 'text' },
      summary: 'A guide, or the interactive reference',
      description:
        'Guides: `quickstart`, `agents`, `oauth`, `webhooks`, `requests`, `errors`, `limits`, `versioning`; with `.md` behind ' +
        'the name the same as Markdown. `reference` is the interactive reference.',
      produces: ['text/html', 'text/markdown'],
      conditional: true,
      handler: ({ params, request, work }) => serve(`/docs/${params.page}`, request.headers, work.settings.baseUrl),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.assets.read',
      path: '/docs/assets/{file}',
      params: { file: 'text' },
      summary: 'Scripts and styles of the documentation',
      produces: ['text/javascript', 'text/css'],
      conditional: true,
      handler: ({ params, request }) => serveAsset(`/docs/assets/${params.file}`, request.headers),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.llms.read',
      path: '/llms.txt',
      summary: 'The documentation’s contents, for language models',
      description: 'Markdown as llmstxt.org describes it: what is where. `/llms-full.txt` has all guides in one file.',
      produces: 'text/plain',
      conditional: true,
      example: '# Agent Integration Platform\n\n> A platform on which developers register agents …\n',
      handler: ({ request, work }) => serve('/llms.txt', request.headers, work.settings.baseUrl),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.llmsFull.read',
      path: '/llms-full.txt',
      summary: 'All guides in one file, for language models',
      description: 'Every guide as Markdown, one after the other.',
      produces: 'text/plain',
      conditional: true,
      example: '# Quickstart\n\nFrom nothing to an agent that runs …\n',
      handler: ({ request, work }) => serve('/llms-full.txt', request.headers, work.settings.baseUrl),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.openapi.read',
      path: '/openapi.json',
      summary: 'The OpenAPI 3.1 document',
      produces: 'application/json',
      conditional: true,
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
      conditional: true,
      handler: async ({ work, request }) => {
        const text = JSON.stringify(MANIFEST_DOCUMENT).replaceAll(BASE_PLACEHOLDER, work.settings.baseUrl)
        const headers = { ...DESCRIPTION_HEADERS, 'content-type': 'application/schema+json; charset=utf-8' }
        return cached(request.headers, sha256(text), headers, text)
      },
    }),
  ]
}

/** What is built does not know where it will be served; the document's one server stands for the base address. */
const placed = (text: string, baseUrl: string): string => {
  const { servers } = JSON.parse(text) as { servers: [{ url: string }] }
  return text.replaceAll(servers[0].url, baseUrl)
}

/** In the guides the same placeholder stands for it. A local run at another port than the guides' puts its own in, too. */
const at = (text: string, baseUrl: string): string => {
  const own = text.replaceAll(BASE_PLACEHOLDER, baseUrl)
  return baseUrl.startsWith('http://127.0.0.1:') ? own.replaceAll(LOCAL_ADDRESS, baseUrl) : own
}
