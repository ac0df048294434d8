import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocsAssets } from './docs-page.ts'
import { buildDocument } from './document.ts'
import { buildSdkExamples } from './sdk-examples.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Builds what the documentation's function serves, ahead of time, so that no handler carries the code for it:
 * `<outDir>/openapi/openapi.json`, from the endpoints' declarations, and the reference's page and the samples for
 * developers in `<outDir>/docs-assets`.
 */
export const buildOpenApi = async (outDir = join(root, 'dist')): Promise<void> => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const document = buildDocument(Object.values(requestFunctions).flat(), version)
  const folder = join(outDir, 'openapi')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
  // Assets carry a hash in their names: those of earlier builds must not be deployed with the new ones.
  const assets = join(outDir, 'docs-assets')
  await rm(assets, { recursive: true, force: true })
  await buildDocsAssets({ outDir: assets, openapi: document })
  await buildSdkExamples(assets)
}

if (import.meta.main) await buildOpenApi()
