import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requestFunctions } from '#functions/registry.ts'
import { DOCUMENT_NAMES, type DocumentName } from '#shared/http/documents.ts'
import { buildDocsAssets } from './docs-page.ts'
import { buildDocument } from './document.ts'
import type { Json } from './schemas.ts'
import { buildSdkExamples } from './sdk-examples.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Builds the files that the pages function serves, so that no handler has to bundle the code for it. Writes the OpenAPI
 * documents to `<outDir>/openapi/<name>.json`, and the documentation pages and the SDK samples to `<outDir>/docs-assets`.
 */
export const buildOpenApi = async (outDir = join(root, 'dist')): Promise<void> => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const endpoints = Object.values(requestFunctions).flat()
  const folder = join(outDir, 'openapi')
  await mkdir(folder, { recursive: true })
  const documents = Object.fromEntries(
    DOCUMENT_NAMES.map((name) => [name, buildDocument(endpoints, version, name)]),
  ) as Record<DocumentName, Json>
  for (const [name, document] of Object.entries(documents)) {
    await writeFile(join(folder, `${name}.json`), JSON.stringify(document))
  }
  // Asset names contain a hash, so those of earlier builds have to be deleted or they would be deployed as well.
  const assets = join(outDir, 'docs-assets')
  await rm(assets, { recursive: true, force: true })
  await buildDocsAssets({ outDir: assets, documentOf: (name) => documents[name] })
  await buildSdkExamples(assets)
}

if (import.meta.main) await buildOpenApi()
