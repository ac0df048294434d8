import * as z from 'zod'
import { type BuiltFiles, builtFolders, LOCAL_ADDRESS, openBuiltFiles } from '#shared/http/built-files.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { withEntityTag } from '#shared/http/entity-tag.ts'
import { pageThrough } from '#shared/http/paging.ts'
import type { RawResponse } from '#shared/http/response.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'

/** One sample in the build's table (`sdk-examples.json`). */
interface SdkExample {
  name: string
  language: string
  description: string
  contentType: string
  /** File name in the folder of the bundle. */
  file: string
}

const PATH = '/api/v1/dev/sdk/examples'

const ExampleSchema = () =>
  z
    .object({
      name: z.string().meta({ example: 'main.py' }),
      language: z.enum(['python', 'typescript', 'json']),
      description: z.string().meta({ example: 'An agent.' }),
      size: z.number().int().meta({ description: 'Bytes.', example: 6_412 }),
      url: z.string().meta({ description: 'URL of the file.', format: 'uri' }),
    })
    .meta({ id: 'SdkExample' })

/** Cacheable for a while, because the samples change only with a deployment. */
const HEADERS = { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' }

const about = { group: 'developer', method: 'GET', caller: 'none' } as const

/**
 * Serves the SDK samples, the files of `examples/sdk`. Their path belongs to the developer API, but the pages function
 * serves them because the files are part of the documentation's build.
 */
export const sdkEndpoints = (files: BuiltFiles): Endpoint[] => {
  const table = async (): Promise<SdkExample[]> =>
    (JSON.parse(await files.text('sdk-examples.json')) as { examples: SdkExample[] }).examples
  const read = async (file: string, baseUrl: string): Promise<string> =>
    (await files.text(file)).replaceAll(LOCAL_ADDRESS, baseUrl)

  return [
    defineEndpoint({
      ...about,
      id: 'developer.sdkExamples.list',
      path: PATH,
      summary: 'List the sample files',
      description: 'Agents, webhook receivers and installations that run without changes. You don’t need an account.',
      list: {
        read: async (_context, page) => pageThrough(await table())(page),
        present: async ({ name, language, description, file }, { work: { settings } }) => ({
          name,
          language,
          description,
          size: Buffer.byteLength(await read(file, settings.baseUrl)),
          url: `${settings.baseUrl}${PATH}/${name}`,
        }),
      },
      response: ExampleSchema,
    }),
    defineEndpoint({
      ...about,
      id: 'developer.sdkExamples.read',
      path: `${PATH}/{name}`,
      params: { name: 'text' },
      summary: 'Get a sample file',
      description:
        'Returns the file itself, with this platform’s address filled in. The content type depends on the language.',
      produces: ['text/x-python', 'text/x-typescript', 'application/json'],
      conditional: true,
      errors: ['not_found'],
      handler: async ({ work, params, request }): Promise<RawResponse> => {
        const example = (await table()).find(({ name }) => name === params.name)
        if (!example) {
          throw fail('not_found', {
            message: 'No sample has this name.',
            fix: `Choose a name from GET ${PATH}.`,
          })
        }
        const text = await read(example.file, work.settings.baseUrl)
        return withEntityTag(request.headers, sha256(text), { ...HEADERS, 'content-type': example.contentType }, text)
      },
    }),
  ]
}

export const endpoints = sdkEndpoints(openBuiltFiles(builtFolders('docs-assets')))
