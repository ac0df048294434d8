import { readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from './document.ts'

const TARGET = fileURLToPath(new URL('../../examples/client/api.d.ts', import.meta.url))

const HEAD = '// Made by `npm run client` from the OpenAPI document. Not to be edited.\n\n'

/** The types of the API for TypeScript clients, from the OpenAPI document as it is served. */
const clientTypes = async (): Promise<string> => {
  // openapi-typescript works with TypeScript's compiler API, which TypeScript 7 does not have yet.
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  })
  const { default: openapiTS, astToString } = await import('openapi-typescript')
  const document = buildDocument(Object.values(requestFunctions).flat(), '1')
  // A copy, because the generator takes a document apart while it reads it.
  return HEAD + astToString(await openapiTS(structuredClone(document) as never))
}

/**
 * `npm run client` writes `examples/client/api.d.ts`; with `--check` it fails if that is not what it would write. The file
 * is not kept in the repository: it is made before types are checked, and of a megabyte of types nobody reads the changes.
 */
if (import.meta.main) {
  const types = await clientTypes()
  const present = await readFile(TARGET, 'utf8').catch(() => '')
  if (present === types) {
    // Untouched, so that whatever watches it stays quiet.
  } else if (process.argv.includes('--check')) {
    console.error('examples/client/api.d.ts is not what the endpoints’ declarations say. Run: npm run client')
    process.exitCode = 1
  } else {
    await writeFile(TARGET, types)
  }
}
