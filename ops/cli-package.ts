import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { NOTICES, noticesOf, packagesOf } from '#infra/bundle/notices.ts'
import { prebuilt } from '#infra/bundle/prebuilt.ts'
import { DEFAULT_SCOPE, withScope } from '#shared/kernel/package-names.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Builds the package of the command-line tool: one file without dependencies, for Node 20.12 and later.
 * @param outDir replaced
 * @param scope of its name, and of the SDK in what it writes
 */
export const buildCliPackage = async (outDir = join(ROOT, 'dist/cli'), scope = DEFAULT_SCOPE): Promise<void> => {
  const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  const { output } = await build({
    cwd: ROOT,
    input: 'cli/main.ts',
    platform: 'node',
    tsconfig: false,
    transform: { target: 'node20', define: { CLI_VERSION: JSON.stringify(version), CLI_SCOPE: JSON.stringify(scope) } },
    plugins: [prebuilt],
    output: {
      file: join(outDir, 'aip.js'),
      format: 'esm',
      banner: '#!/usr/bin/env node',
      codeSplitting: false,
      minify: true,
      comments: false,
    },
  })
  const about = {
    name: `${scope}/cli`,
    version,
    description: 'Builds agents for the Agent Integration Platform on your own machine.',
    license,
    type: 'module',
    bin: { aip: 'aip.js' },
    engines: { node: '>=20.12' },
    files: ['aip.js', NOTICES],
    publishConfig: { access: 'public' },
  }
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(about, null, 2)}\n`)
  const modules = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
  await writeFile(join(outDir, NOTICES), noticesOf(packagesOf(modules)))
  const readme = await readFile(join(ROOT, 'cli/README.md'), 'utf8')
  await writeFile(join(outDir, 'README.md'), withScope(readme, scope))
  await cp(join(ROOT, 'LICENSE'), join(outDir, 'LICENSE'))
}

if (import.meta.main) await buildCliPackage()
