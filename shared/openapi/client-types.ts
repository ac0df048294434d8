import { readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from './document.ts'

/** The sample client's, and that of the pages. */
const TARGETS = ['examples/client/api.d.ts', 'web/ui/platform.d.ts']

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
 * `npm run client` writes the types for every TypeScript client here; with `--check` it fails if they are not what it would
 * write. The files are not kept in the repository: they are made before types are checked, and of a megabyte of types nobody
 * reads the changes.
 */
if (import.meta.main) {
  const types = await clientTypes()
  for (const name of TARGETS) {
    const file = fileURLToPath(new URL(`../../${name}`, import.meta.url))
    const present = await readFile(file, 'utf8').catch(() => '')
    // Untouched where nothing changed, so that whatever watches it stays quiet.
    if (present === types) continue
    if (process.argv.includes('--check')) {
      console.error(`${name} is not what the endpoints’ declarations say. Run: npm run client`)
      process.exitCode = 1
    } else {
      await writeFile(file, types)
    }
  }
}
