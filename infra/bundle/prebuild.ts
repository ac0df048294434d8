import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Runs a builder of the repository in a separate process: in parallel to the bundler, and with fresh imports at each call. */
const run = async (root: string, builder: string, call: string): Promise<void> => {
  const file = join(root, builder)
  if (!existsSync(file)) return
  const code = `const builder = await import(${JSON.stringify(pathToFileURL(file).href)}); await builder.${call}`
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
  await running.catch(({ stderr, message }) => {
    throw new Error(stderr.trim() || message)
  })
}

/** Name of the function that serves pages. */
export const PAGES_UNIT = 'pages'

/** Builders of the pages that Vite builds, by their folders in `web`. */
const PAGES = { console: 'buildConsole', admin: 'buildAdmin', developers: 'buildDevelopers' } as const
const pages = Object.keys(PAGES) as (keyof typeof PAGES)[]

/** Parts of what the functions below serve. Each is built by itself. */
export const PARTS = ['docs', ...pages, 'packages'] as const
export type Part = (typeof PARTS)[number]

/** Folders of `dist` with the files that a function serves, by function. */
export const SERVED: Readonly<Record<string, readonly string[]>> = {
  [PAGES_UNIT]: ['openapi', 'docs-assets', ...pages.map((page) => `${page}-assets`)],
  packages: ['packages-assets'],
}

/**
 * Builds a part into `dist`: a page if its sources have changed, the packages, or the documentation (the OpenAPI document, its pages
 * and scripts).
 *
 * @param root the repository
 * @param inProcess builds the documentation in this process, from the endpoints that it has imported, or imports now. A separate
 * process sees the current ones, not those that a long-lived build imported first
 * @returns false if nothing has changed
 * @throws {Error} with the builder's messages
 */
export async function prebuild(root: string, part: Part, inProcess: boolean): Promise<boolean> {
  if (part === 'docs') {
    if (inProcess) await (await import('#openapi/build.ts')).buildOpenApi()
    else await run(root, 'openapi/build.ts', 'buildOpenApi()')
    return true
  }
  if (part === 'packages') {
    await run(root, 'ops/packages.ts', 'buildServedPackages()')
    return true
  }
  if (part === 'developers') await run(root, 'openapi/portal-rights.ts', 'writePortalRights()')
  const folder = join(root, 'dist', `${part}-assets`)
  const read = () => readFile(join(folder, `${part}-files.json`), 'utf8').catch(() => '')
  const before = await read()
  await run(root, `web/${part}/build.ts`, `${PAGES[part]}(${JSON.stringify(folder)})`)
  return before !== (await read())
}

/** Copies what a function serves next to its bundle. @param folder has a folder for each bundle */
export async function copyServed(root: string, unit: string, folder: string): Promise<void> {
  const target = join(folder, unit)
  for (const name of SERVED[unit] ?? []) {
    const source = join(root, 'dist', name)
    await rm(join(target, name), { recursive: true, force: true })
    if (existsSync(source)) await cp(source, join(target, name), { recursive: true, preserveTimestamps: true })
    await rm(join(target, name, 'fingerprint'), { force: true })
  }
}
