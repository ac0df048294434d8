import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DEFAULT_SCOPE, withScope } from '#shared/kernel/package-names.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = join(ROOT, 'packages/sdk-ts')

/** Entry points of the package besides its root. */
const SUBPATHS = ['adapters', 'webhooks', 'ai-sdk', 'openai-agents', 'langgraph']

/**
 * Builds the package of the agent SDK: JavaScript modules with their types. Needs the generated types (`npm run client`).
 * @param outDir replaced
 * @param scope of its name
 */
export const buildSdkPackage = async (outDir = join(ROOT, 'dist/sdk-ts'), scope = DEFAULT_SCOPE): Promise<void> => {
  const { version, license, devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [compiler, '--project', SOURCE, '--outDir', outDir])
  // Declarations name the sources that they were made from. Only newer compilers resolve that.
  for (const file of await readdir(outDir)) {
    if (!file.endsWith('.d.ts')) continue
    const text = await readFile(join(outDir, file), 'utf8')
    await writeFile(join(outDir, file), text.replace(/(?<!\.d)\.ts'/g, ".js'"))
  }
  for (const file of await readdir(SOURCE)) {
    if (file.endsWith('.d.ts')) await cp(join(SOURCE, file), join(outDir, file))
  }
  const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` })
  const about = {
    name: `${scope}/sdk`,
    version,
    description: 'Builds agents for the Agent Integration Platform, verifies its webhooks and calls its API.',
    license,
    type: 'module',
    sideEffects: false,
    exports: {
      '.': entry('index'),
      ...Object.fromEntries(SUBPATHS.map((name) => [`./${name}`, entry(name)])),
    },
    engines: { node: '>=20' },
    // The versions that the platform's own tests use.
    dependencies: { 'openapi-fetch': devDependencies['openapi-fetch'] },
    publishConfig: { access: 'public' },
  }
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(about, null, 2)}\n`)
  const readme = await readFile(join(SOURCE, 'README.md'), 'utf8')
  await writeFile(join(outDir, 'README.md'), withScope(readme, scope))
  await cp(join(ROOT, 'LICENSE'), join(outDir, 'LICENSE'))
}

if (import.meta.main) await buildSdkPackage()
