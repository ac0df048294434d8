import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packageScopeIn } from '#shared/kernel/package-names.ts'
import { buildCliPackage } from './cli-package.ts'
import { ARCHIVE_TIME, digest, type Files, packTarball } from './packages/archives.ts'
import { buildWheel } from './packages/wheel.ts'
import { buildSdkPackage } from './sdk-package.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Reads the scope of the npm packages from cdk.json. */
const readPackageScope = async (root = ROOT): Promise<string> =>
  packageScopeIn(await readFile(join(root, 'cdk.json'), 'utf8'))

const filesIn = async (folder: string): Promise<Files> => {
  const names = await readdir(folder)
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))])))
}

/** Returns an archive's entry in the table: its size and digests. */
const describeFile = (file: string, content: Uint8Array) => ({
  file,
  size: content.length,
  sha1: digest('sha1', content, 'hex'),
  sha256: digest('sha256', content, 'hex'),
  sha512: digest('sha512', content, 'base64'),
})

/**
 * Builds the packages that the platform serves, and the table `packages-files.json` in which the function looks them up.
 * Equal sources give equal bytes. Needs the generated types (`npm run client`).
 *
 * @param outDir replaced
 */
export const buildPackages = async (outDir = join(ROOT, 'dist/packages-assets'), scope?: string): Promise<void> => {
  const named = scope ?? (await readPackageScope())
  const scratch = await mkdtemp(join(tmpdir(), 'packages-'))
  try {
    const [cli, sdk] = [join(scratch, 'cli'), join(scratch, 'sdk')]
    const [wheel] = await Promise.all([
      buildWheel(join(ROOT, 'packages/sdk-py'), await readFile(join(ROOT, 'LICENSE'))),
      buildCliPackage(cli, named),
      buildSdkPackage(sdk, named),
    ])
    const npm = await Promise.all([cli, sdk].map(async (folder) => packNpm(await filesIn(folder))))
    await rm(outDir, { recursive: true, force: true })
    await mkdir(outDir, { recursive: true })
    for (const { file, content } of [...npm, wheel]) await writeFile(join(outDir, file), content)
    const table = {
      scope: named,
      time: ARCHIVE_TIME,
      npm: npm.map(({ manifest, file, content }) => ({ manifest, ...describeFile(file, content) })),
      python: [wheel].map(({ name, version, requiresPython, file, content }) => ({
        ...{ name, version, requiresPython },
        ...describeFile(file, content),
      })),
    }
    await writeFile(join(outDir, 'packages-files.json'), `${JSON.stringify(table, null, 2)}\n`)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Builds the packages with the types of the API that is built with them. @returns the folder */
export const buildServedPackages = async (): Promise<string> => {
  await promisify(execFile)(process.execPath, [join(ROOT, 'openapi/client-types.ts'), 'packages/'], { cwd: ROOT })
  const folder = join(ROOT, 'dist/packages-assets')
  await buildPackages(folder)
  return folder
}

/** Packs an npm package under the name that npm expects at the end of its address. */
const packNpm = (files: Files) => {
  const manifest = JSON.parse(Buffer.from(files['package.json'] ?? '').toString())
  const programs = Object.values<string>(manifest.bin ?? {})
  const [, name] = manifest.name.split('/')
  return { manifest, file: `${name}-${manifest.version}.tgz`, content: packTarball(files, programs) }
}

if (import.meta.main) await buildServedPackages()
