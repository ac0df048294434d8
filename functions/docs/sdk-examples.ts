import * as z from 'zod'
import type { RawAnswer } from '#shared/http/answer.ts'
import { cached } from '#shared/http/cached.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery, pagesOf } from '#shared/http/paging.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'

import type { BuiltFiles } from './files.ts'
import { LOCAL_ADDRESS } from './local-address.ts'

/** What the build says of one sample (`sdk-examples.json`). */
interface SdkExample {
  name: string
  language: string
  description: string
  contentType: string
  /** Its name beside the bundle. */
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
      url: z.string().meta({ description: 'Where the file itself is.', format: 'uri' }),
    })
    .meta({ id: 'SdkExample' })

/** May be kept a while: it changes with a deployment only. */
const HEADERS = { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' }

const about = { group: 'developer', method: 'GET', caller: 'none' } as const

/**
 * The SDK samples, the very files of `examples/sdk`. They are the developer API's by their path, and served here because
 * the files lie beside this function's bundle.
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
      description: 'Agents, webhook receivers and installations that run as they are. No account is needed.',
      query: () => pageQuery({}),
      list: 'page',
      response: ExampleSchema,
      handler: async ({ work, caller, query }) => {
        const { settings } = work
        const one = async ({ name, language, description, file }: SdkExample) => ({
          name,
          language,
          description,
          size: Buffer.byteLength(await read(file, settings.baseUrl)),
          url: `${settings.baseUrl}${PATH}/${name}`,
        })
        return paged(work, caller, ['developer.sdkExamples.list'], query, pagesOf(await table()), one)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'developer.sdkExamples.read',
      path: `${PATH}/{name}`,
      params: { name: 'text' },
      summary: 'Read a sample file',
      description: 'The file itself, with this platform’s address in it. Its content type follows its language.',
      produces: ['text/x-python', 'text/x-typescript', 'application/json'],
      conditional: true,
      errors: ['not_found'],
      handler: async ({ work, params, request }): Promise<RawAnswer> => {
        const example = (await table()).find(({ name }) => name === params.name)
        if (!example) {
          throw fail('not_found', { message: 'There is no such sample.', fix: `Choose one from GET ${PATH}.` })
        }
        const text = await read(example.file, work.settings.baseUrl)
        return cached(request.headers, sha256(text), { ...HEADERS, 'content-type': example.contentType }, text)
      },
    }),
  ]
}
