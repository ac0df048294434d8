import type { BuiltFiles } from '#shared/http/built-files.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { withEntityTag } from '#shared/http/entity-tag.ts'
import { RawResponse } from '#shared/http/response.ts'
import { fail } from '#shared/kernel/errors.ts'
import { pickLanguage, type Translate, translator } from '#shared/kernel/messages.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { PageBuild } from '#web/built/files.ts'
import { assetHeaders, pageHeaders } from '#web/built/headers.ts'

interface Page {
  html: string
  /** Value of the Content-Security-Policy header. */
  securityPolicy: string
}

/** Picks the language of a page from the browser's preferences. After sign-in, the page changes to the person's. */
export const pageTexts = (
  requestHeaders: Record<string, string>,
  { entries }: PageBuild,
): { language: string; t: Translate } => {
  const language = pickLanguage(requestHeaders['accept-language'], Object.keys(entries))
  return { language, t: translator(language) }
}

/** Answers with a page, or with 304 if the browser has it. The tag covers the policy, which can change without the page. */
export const answerPage = (
  requestHeaders: Record<string, string>,
  { html, securityPolicy }: Page,
  headers: Record<string, string> = {},
): RawResponse =>
  withEntityTag(
    requestHeaders,
    sha256(html + securityPolicy),
    { ...pageHeaders(securityPolicy), vary: 'accept-language', ...headers },
    html,
  )

interface BuiltPage {
  group: 'console' | 'admin' | 'developer'
  /** Path of the page. Its assets are below it. */
  path: `/${string}`
  summary: string
  /** Reads the table of the page's files. */
  build: () => Promise<PageBuild>
  files: BuiltFiles
}

/** Declares the endpoint that serves a page's scripts and style sheets. */
export const pageAssets = ({ group, path, summary, build, files }: BuiltPage): Endpoint =>
  defineEndpoint({
    group,
    method: 'GET',
    caller: 'none',
    lenient: true,
    id: `${group}.page.asset`,
    path: `${path}/assets/{file}`,
    params: { file: 'text' },
    summary,
    description: 'File names change with their content, so responses can be cached for a year.',
    produces: ['text/javascript', 'text/css'],
    errors: ['not_found'],
    handler: async ({ params }) => {
      // File names come from the build's table, never from the request.
      const file = (await build()).files.find(({ name }) => name === params.file)
      if (!file) {
        throw fail('not_found', { message: 'No file has this name.', fix: `Reload the page at ${path}.` })
      }
      return new RawResponse(200, assetHeaders(file.contentType), await files.text(file.name))
    },
  })
