import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Plugin } from 'esbuild'

/** Sources of entry points, by function. */
export type Entries = Record<string, string>

/** Generates the entry points from the declarations that this process has imported, or imports now. */
export const importEntries = async (): Promise<Entries> => (await import('./entries.ts')).entries()

/** Generates the entry points in a separate process, because a watching build has already imported older declarations. */
export const generateEntries = async (): Promise<Entries> => {
  const file = pathToFileURL(join(import.meta.dirname, 'entries.ts')).href
  const code = `console.log(JSON.stringify((await import(${JSON.stringify(file)})).entries()))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code])
  return JSON.parse(stdout)
}

const PREFIX = 'entry:'

/** Name of a function's entry point in esbuild. */
export const entryPoint = (name: string): string => `${PREFIX}${name}`

/** Provides esbuild with the entry points, and reads them again for each rebuild. */
export const entryPoints = (root: string, read: () => Promise<Entries>): Plugin => ({
  name: 'entry-points',
  setup(build) {
    let entries: Entries = {}
    build.onStart(async () => {
      // A source doesn't compile: esbuild reports where.
      entries = await read().catch((error) => {
        if (Object.keys(entries).length === 0) throw error
        return entries
      })
    })
    build.onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice(PREFIX.length), namespace: 'entry' }))
    build.onLoad({ filter: /.*/, namespace: 'entry' }, ({ path }) => ({
      contents: entries[path] ?? '',
      loader: 'ts',
      resolveDir: root,
      watchFiles: [join(root, 'functions', 'units.ts')],
    }))
  },
})
