import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/**
 * Builds what the documentation's function serves (the OpenAPI document, the page and its script) and copies it beside the bundle.
 *
 * The builder runs in a process of its own: while esbuild is at work, and afresh at every call, so that a build in a long-lived
 * process sees the endpoints as they are now and not as they were when they were first imported.
 *
 * @param root The repository.
 * @param target The documentation function's folder.
 */
export async function prebuild(root: string, target: string): Promise<void> {
  const builder = join(root, 'shared', 'openapi', 'build.ts')
  if (existsSync(builder)) {
    const code = `const { buildOpenApi } = await import(${JSON.stringify(pathToFileURL(builder).href)}); await buildOpenApi()`
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
  }
  await mkdir(target, { recursive: true })
  for (const name of ['openapi', 'docs-assets']) {
    const source = join(root, 'dist', name)
    if (existsSync(source)) await cp(source, target, { recursive: true })
  }
}
