import { BASE_PLACEHOLDER, MANIFEST_DOCUMENT } from '#shared/catalogue/manifests/index.ts'
import { LOCAL_ADDRESS } from '#shared/http/built-files.ts'
import { DOCUMENT_NAMES, type DocumentName } from '#shared/http/documents.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { withEntityTag } from '#shared/http/entity-tag.ts'
import { type RawResponse, redirect } from '#shared/http/response.ts'
import { type Brand, brandMark, brandStyle, DEFAULT_BRAND } from '#shared/kernel/brand.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { type BuiltFiles, builtFolders, type DocsFile, openBuiltFiles } from './support/files.ts'

/** Cacheable for a while, because the descriptions change only with a deployment. */
const DESCRIPTION_HEADERS = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }

/** Files of the brand. Pages name their version in the address; the documentation doesn't. */
const BRAND_HEADERS = {
  'cache-control': 'public, max-age=3600',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

type Own = Pick<Settings, 'baseUrl' | 'brand'>

const about = { group: 'docs', method: 'GET', caller: 'none' } as const

/** Serves the documentation and the machine-readable descriptions from files that were built ahead of time. */
export const pageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const fileAt = async (path: string): Promise<DocsFile> => {
    const file = await files.at(path)
    if (!file) throw fail('not_found', { message: 'No page has this address.', fix: 'Start at /docs.' })
    return file
  }

  const serveAsset = async (path: string, headers: Record<string, string>): Promise<RawResponse> => {
    const file = await fileAt(path)
    return withEntityTag(
      headers,
      file.hash,
      { ...file.headers, 'content-type': file.contentType },
      await files.text(file.file),
    )
  }

  /** Serves a text with the deployment's own addresses filled in. */
  const serve = async (
    path: string,
    headers: Record<string, string>,
    { baseUrl, brand }: Own,
  ): Promise<RawResponse> => {
    const file = await fileAt(path)
    const text = linked(named(at(await files.text(file.file), baseUrl), brand), brand)
    return withEntityTag(headers, sha256(text), { ...file.headers, 'content-type': file.contentType }, text)
  }

  const documents = new Map<string, { baseUrl: string; brand: Brand; text: string }>()

  /** Serves an OpenAPI document with the deployment's address filled in. */
  const serveDocument = async (
    name: DocumentName,
    headers: Record<string, string>,
    { baseUrl, brand }: Own,
  ): Promise<RawResponse> => {
    const known = documents.get(name)
    const { text } =
      known?.baseUrl === baseUrl && known.brand === brand
        ? known
        : { text: named(placed(await files.text(`${name}.json`), baseUrl), brand) }
    documents.set(name, { baseUrl, brand, text })
    const typed = { ...DESCRIPTION_HEADERS, 'content-type': 'application/json; charset=utf-8' }
    return withEntityTag(headers, sha256(text), typed, text)
  }

  return [
    defineEndpoint({
      ...about,
      id: 'docs.root.redirect',
      path: '/',
      summary: 'Redirect to the documentation',
      status: 302,
      handler: async ({ work }) => redirect(`${work.settings.baseUrl}/docs`),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.page.read',
      path: '/docs',
      summary: 'Get the documentation’s start page',
      description: 'An index of the guides, with an anchor for every error code. `error.docs_url` points here.',
      produces: 'text/html',
      conditional: true,
      handler: ({ request, work }) => serve('/docs', request.headers, work.settings),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.guide.read',
      path: '/docs/{page}',
      params: { page: 'text' },
      summary: 'Get a guide or the reference',
      description:
        '`/docs` lists the guides. Add `.md` to a name to get the guide as Markdown. `reference` is the API reference, ' +
        '`changelog` what changed, `status` whether the platform answers, and `search.json` the index of the search. ' +
        '`notices.txt` has the licences of third parties.',
      produces: ['text/html', 'text/markdown', 'application/json', 'text/plain'],
      conditional: true,
      showsErrors: true,
      handler: ({ params, request, work }) => serve(`/docs/${params.page}`, request.headers, work.settings),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.assets.read',
      path: '/docs/assets/{file}',
      params: { file: 'text' },
      summary: 'Get a script or style sheet of the documentation',
      produces: ['text/javascript', 'text/css'],
      conditional: true,
      handler: ({ params, request }) => serveAsset(`/docs/assets/${params.file}`, request.headers),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.brand.style',
      path: '/brand.css',
      lenient: true,
      summary: 'Get the style sheet with the brand’s colours',
      description: 'Sets the shades of the brand’s accent for both themes, each readable on the pages’ backgrounds.',
      produces: 'text/css',
      conditional: true,
      handler: async ({ request, work }) => {
        const text = brandStyle(work.settings.brand)
        const headers = { ...BRAND_HEADERS, 'content-type': 'text/css; charset=utf-8' }
        return withEntityTag(request.headers, sha256(text), headers, text)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.brand.mark',
      path: '/brand.svg',
      lenient: true,
      summary: 'Get the platform’s mark',
      produces: 'image/svg+xml',
      conditional: true,
      handler: async ({ request, work }) => {
        const text = brandMark(work.settings.brand)
        const headers = {
          ...BRAND_HEADERS,
          'content-type': 'image/svg+xml',
          'content-security-policy': "default-src 'none'; sandbox",
        }
        return withEntityTag(request.headers, sha256(text), headers, text)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.llms.read',
      path: '/llms.txt',
      summary: 'Get the documentation’s contents for language models',
      description:
        'Markdown in the format of llmstxt.org, with links to every document. `/llms-full.txt` has all guides in one ' +
        'file.',
      produces: 'text/plain',
      conditional: true,
      example: '# Agent Integration Platform\n\n> Developers register agents, customers install them …\n',
      handler: ({ request, work }) => serve('/llms.txt', request.headers, work.settings),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.llmsFull.read',
      path: '/llms-full.txt',
      summary: 'Get all guides in one file for language models',
      description: 'Contains every guide as Markdown, in reading order.',
      produces: 'text/plain',
      conditional: true,
      example: '# Quickstart\n\nIn about ten minutes, you’ll build an agent …\n',
      handler: ({ request, work }) => serve('/llms-full.txt', request.headers, work.settings),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.openapi.read',
      path: '/openapi.json',
      summary: 'Get the OpenAPI 3.1 document',
      produces: 'application/json',
      conditional: true,
      handler: ({ work, request }) => serveDocument('openapi', request.headers, work.settings),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.openapiPart.read',
      path: '/openapi/{document}',
      params: { document: 'text' },
      summary: 'Get the OpenAPI 3.1 document of one API',
      description:
        'Smaller than the whole document, for client generators: `essentials.json` (the thirty operations that an ' +
        'integration needs first), `integration.json`, `developer.json`, `console.json` or `admin.json`.',
      produces: 'application/json',
      conditional: true,
      handler: ({ params, work, request }) => {
        const name = DOCUMENT_NAMES.find((one) => one !== 'openapi' && `${one}.json` === params.document)
        if (name === undefined) {
          throw fail('not_found', { message: 'No OpenAPI document has this name.', fix: 'See /openapi.json.' })
        }
        return serveDocument(name, request.headers, work.settings)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.manifestSchema.read',
      path: '/schemas/manifest.json',
      summary: 'Get the JSON Schema of manifests',
      produces: 'application/schema+json',
      conditional: true,
      handler: async ({ work, request }) => {
        const text = JSON.stringify(MANIFEST_DOCUMENT).replaceAll(BASE_PLACEHOLDER, work.settings.baseUrl)
        const headers = { ...DESCRIPTION_HEADERS, 'content-type': 'application/schema+json; charset=utf-8' }
        return withEntityTag(request.headers, sha256(text), headers, text)
      },
    }),
  ]
}

/** Replaces the default name with the brand's. Names of brands mean nothing in HTML, Markdown and JSON. */
const named = (text: string, { name }: Brand): string => text.replaceAll(DEFAULT_BRAND.name, () => name)

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const OWN_LINK = /<a data-link="(\w+)" href="[^"]*">(.*?)<\/a>/g

/** Fills in the operator's own addresses, and removes the links that have none. */
const linked = (text: string, { supportUrl, statusUrl }: Brand): string => {
  const addresses: Readonly<Record<string, string | undefined>> = { support: supportUrl, status: statusUrl }
  return text.replaceAll(OWN_LINK, (_, name: string, words: string) => {
    const address = addresses[name]
    return address === undefined ? '' : `<a href="${escapeAttribute(address)}">${words}</a>`
  })
}

/** Replaces the placeholder server of the built document with the deployment's base address. */
const placed = (text: string, baseUrl: string): string => {
  const { servers } = JSON.parse(text) as { servers: [{ url: string }] }
  return text.replaceAll(servers[0].url, baseUrl)
}

/** Fills in the base address. A local platform on another port than the guides' also replaces the local address. */
const at = (text: string, baseUrl: string): string => {
  const own = text.replaceAll(BASE_PLACEHOLDER, baseUrl)
  return baseUrl.startsWith('http://127.0.0.1:') ? own.replaceAll(LOCAL_ADDRESS, baseUrl) : own
}

export const endpoints = pageEndpoints(openBuiltFiles(builtFolders()))
