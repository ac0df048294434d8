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
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
}

/** Name of the function that serves the files built here. */
export const PAGES_UNIT = 'pages'

/** Pages that Vite builds, with their folders in `web` and their builders. */
const PAGES = [
  { page: 'console', builder: 'buildConsole' },
  { page: 'admin', builder: 'buildAdmin' },
  { page: 'developers', builder: 'buildDevelopers' },
] as const

/** Folders of `dist` whose files the function serves. */
export const SERVED = ['openapi', 'docs-assets', ...PAGES.map(({ page }) => `${page}-assets`)]

/**
 * Builds the documentation (the OpenAPI document, its pages and scripts) into `dist`. A separate process sees the current endpoints,
 * not those that a long-lived build imported first.
 *
 * @param root the repository
 * @param inProcess builds in this process, from the endpoints that it has imported, or imports now
 */
export async function prebuildDocs(root: string, inProcess: boolean): Promise<void> {
  if (inProcess) await (await import('#openapi/build.ts')).buildOpenApi()
  else await run(root, 'openapi/build.ts', 'buildOpenApi()')
}

/** Builds the pages whose sources have changed into `dist`. @returns true if a page has changed */
export async function prebuildPages(root: string): Promise<boolean> {
  const changed = await Promise.all(
    PAGES.map(async ({ page, builder }) => {
      const folder = join(root, 'dist', `${page}-assets`)
      const read = () => readFile(join(folder, `${page}-files.json`), 'utf8').catch(() => '')
      const before = await read()
      await run(root, `web/${page}/build.ts`, `${builder}(${JSON.stringify(folder)})`)
      return before !== (await read())
    }),
  )
  return changed.includes(true)
}

/** Copies all that was built here next to the bundle that serves it. @param target folder of the bundle */
export async function copyServed(root: string, target: string): Promise<void> {
  for (const name of SERVED) {
    const source = join(root, 'dist', name)
    await rm(join(target, name), { recursive: true, force: true })
    if (existsSync(source)) await cp(source, join(target, name), { recursive: true, preserveTimestamps: true })
    await rm(join(target, name, 'fingerprint'), { force: true })
  }
}
