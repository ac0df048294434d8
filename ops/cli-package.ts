import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { prebuilt } from '#infra/bundle/prebuilt.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Name under which the tool is published. The scope belongs to the project, so nobody else can take the name. */
const NAME = '@agent-integration-platform/cli'

/**
 * Builds the package of the command-line tool: one file without dependencies, for Node 20 and later.
 * @param outDir replaced
 */
export const buildCliPackage = async (outDir = join(ROOT, 'dist/cli')): Promise<void> => {
  const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  await build({
    cwd: ROOT,
    input: 'cli/main.ts',
    platform: 'node',
    tsconfig: false,
    transform: { target: 'node20', define: { CLI_VERSION: JSON.stringify(version) } },
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
    name: NAME,
    version,
    description: 'Builds agents for the Agent Integration Platform on your own machine.',
    license,
    type: 'module',
    bin: { aip: 'aip.js' },
    engines: { node: '>=20' },
    files: ['aip.js'],
    publishConfig: { access: 'public' },
  }
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(about, null, 2)}\n`)
  await cp(join(ROOT, 'cli/README.md'), join(outDir, 'README.md'))
  await cp(join(ROOT, 'LICENSE'), join(outDir, 'LICENSE'))
}

if (import.meta.main) await buildCliPackage()
