import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '#local/prepare.ts'
import { buildCliPackage } from '#ops/cli-package.ts'
import { buildSdkPackage } from '#ops/sdk-package.ts'

const run = promisify(execFile)

export type Language = 'ts' | 'py'

/** Our packages as files, instead of on registries. */
export interface Packages {
  cli: string
  /** The SDK in TypeScript, with the packages that it needs. */
  sdk: readonly string[]
  /** The SDK in Python. There is none on a machine without Python. */
  wheel: string
}

/** Builds the packages into a folder. */
export const preparePackages = async (folder: string): Promise<Packages> => {
  const built = { cli: path.join(folder, 'cli'), sdk: path.join(folder, 'sdk') }
  await buildCliPackage(built.cli)
  await buildSdkPackage(built.sdk)
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) =>
    path.join(ROOT, 'node_modules', name),
  )
  await run('npm', ['pack', '--pack-destination', folder, built.cli, built.sdk, ...dependencies], { cwd: folder })
  const tarballs = readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => path.join(folder, name))
  const isCli = (name: string): boolean => /platform-cli-[\d.]+\.tgz$/.test(name)
  return {
    cli: tarballs.find(isCli) ?? '',
    sdk: tarballs.filter((name) => !isCli(name)),
    wheel: await buildWheel(folder).catch(() => ''),
  }
}

const buildWheel = async (folder: string): Promise<string> => {
  const wheels = path.join(folder, 'wheels')
  const build = ['wheel', '--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', wheels]
  await run('python3', ['-m', 'pip', ...build, path.join(ROOT, 'packages/sdk-py')])
  return path.join(wheels, readdirSync(wheels).find((name) => name.endsWith('.whl')) ?? '')
}

/** Installs into the empty folder what a newcomer needs: the SDK, and the command-line tool if they use it. */
export const install = async (
  folder: string,
  language: Language,
  { cli, sdk, wheel }: Packages,
  withTool: boolean,
): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  const tarballs = [...(withTool ? [cli] : []), ...(language === 'ts' ? sdk : [])]
  if (tarballs.length > 0) {
    // Above the project, so that its own package.json is the one that the tool writes.
    const above = path.dirname(folder)
    writeFileSync(path.join(above, 'package.json'), '{ "type": "module" }')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: above })
  }
  if (language === 'py') {
    await run('python3', ['-m', 'venv', '.venv'], { cwd: folder })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    await run('.venv/bin/python', [...pip, wheel, 'uvicorn>=0.30', 'python-dotenv>=1'], { cwd: folder })
  }
}
