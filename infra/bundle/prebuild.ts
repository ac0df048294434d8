import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Runs a builder of the repository in a separate process: in parallel to esbuild, and with fresh imports at each call. */
const run = async (root: string, builder: string, call: string): Promise<void> => {
  const file = join(root, builder)
  if (!existsSync(file)) return
  const code = `const builder = await import(${JSON.stringify(pathToFileURL(file).href)}); await builder.${call}`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
}

/** Copies folders of `dist` into a function's folder. */
const copy = async (root: string, target: string, names: string[]): Promise<void> => {
  for (const name of names) {
    const source = join(root, 'dist', name)
    await rm(join(target, name), { recursive: true, force: true })
    if (existsSync(source)) await cp(source, join(target, name), { recursive: true })
  }
}

/** Name of the function that serves the files built here. */
export const PAGES_UNIT = 'pages'

/**
 * Builds the documentation (the OpenAPI document, its pages and scripts) and copies it next to the bundle. A separate process sees the
 * current endpoints, not those that a long-lived build imported first.
 *
 * @param root the repository
 * @param target folder of the function that serves it
 * @param inProcess builds in this process, from the endpoints that it has imported, or imports now
 */
export async function prebuildDocs(root: string, target: string, inProcess: boolean): Promise<void> {
  if (inProcess) await (await import('#openapi/build.ts')).buildOpenApi()
  else await run(root, 'openapi/build.ts', 'buildOpenApi()')
  await copy(root, target, ['openapi', 'docs-assets'])
}

/** Pages that Vite builds, with their folders in `web` and their builders. */
export const PAGES = [
  { page: 'console', builder: 'buildConsole' },
  { page: 'admin', builder: 'buildAdmin' },
  { page: 'developers', builder: 'buildDevelopers' },
] as const

/**
 * Builds a page with Vite unless it is unchanged, and copies its scripts and styles next to the bundle.
 *
 * @param target folder of the function that serves it
 * @returns true if anything had changed
 */
export async function prebuildPage(
  root: string,
  { page, builder }: (typeof PAGES)[number],
  target: string,
): Promise<boolean> {
  const assets = `${page}-assets`
  const built = join(root, 'dist', assets)
  await run(root, `web/${page}/build.ts`, `${builder}(${JSON.stringify(built)})`)
  const [now, there] = await Promise.all(
    [built, join(target, assets)].map((folder) => readFile(join(folder, `${page}-files.json`), 'utf8').catch(() => '')),
  )
  if (now === there) return false
  await copy(root, target, [assets])
  await rm(join(target, assets, 'fingerprint'), { force: true })
  return true
}
