import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Runs a builder of the repository in a process of its own: while esbuild is at work, and afresh at every call. */
const run = async (root: string, builder: string, call: string): Promise<void> => {
  const file = join(root, builder)
  if (!existsSync(file)) return
  const code = `const builder = await import(${JSON.stringify(pathToFileURL(file).href)}); await builder.${call}`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
}

/** Copies what was built into a function's folder. */
const copy = async (root: string, target: string, names: string[]): Promise<void> => {
  await mkdir(target, { recursive: true })
  for (const name of names) {
    const source = join(root, 'dist', name)
    if (existsSync(source)) await cp(source, target, { recursive: true })
  }
}

/**
 * Builds what the documentation's function serves (the OpenAPI document, the page and its script) and copies it beside the bundle.
 * Afresh at every call, so that a build in a long-lived process sees the endpoints as they are now and not as they were when
 * they were first imported.
 *
 * @param root The repository.
 * @param target The documentation function's folder.
 */
export async function prebuild(root: string, target: string): Promise<void> {
  await run(root, 'shared/openapi/build.ts', 'buildOpenApi()')
  await copy(root, target, ['openapi', 'docs-assets'])
}

/** The pages that Vite builds: by the function that serves one, its folder below `web` and its builder. */
export const PAGES = {
  'console-page': { page: 'console', builder: 'buildConsole' },
  'staff-page': { page: 'admin', builder: 'buildAdmin' },
} as const

/**
 * Builds a page with Vite, unless nothing of it has changed, and puts its scripts and styles beside the bundle.
 *
 * @param name The function that serves it.
 * @param target That function's folder.
 * @returns Whether anything had changed.
 */
export async function prebuildPage(root: string, name: keyof typeof PAGES, target: string): Promise<boolean> {
  const { page, builder } = PAGES[name]
  const built = join(root, 'dist', `${page}-assets`)
  await run(root, `web/${page}/build.ts`, `${builder}(${JSON.stringify(built)})`)
  const [now, there] = await Promise.all(
    [built, target].map((folder) => readFile(join(folder, `${page}-files.json`), 'utf8').catch(() => '')),
  )
  if (now === there) return false
  // Scripts have a hash in their names: those of earlier builds must not be deployed with the new ones.
  const old = (await readdir(target).catch(() => [])).filter((name) => name !== 'index.cjs')
  await Promise.all(old.map((name) => rm(join(target, name))))
  await copy(root, target, [`${page}-assets`])
  await rm(join(target, 'fingerprint'), { force: true })
  return true
}
