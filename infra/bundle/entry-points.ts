import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Plugin } from 'rolldown'

/** Sources of entry points, by function. */
export type Entries = Record<string, string>

/** Generates the entry points from the declarations that this process has imported, or imports now. */
export const importEntries = async (): Promise<Entries> => (await import('./entries.ts')).entries()

/** Generates the entry points in a separate process, because a watching build has already imported older declarations. */
export const generateEntries = async (): Promise<Entries> => {
  const file = pathToFileURL(join(import.meta.dirname, 'entries.ts')).href
  const code = `console.log(JSON.stringify((await import(${JSON.stringify(file)})).entries()))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  return JSON.parse(stdout)
}

const PREFIX = 'entry:'
const NAME = /\.([^./\\]+)\.entry\.ts$/

/** Name of a function's entry point for the bundler. */
export const entryPoint = (name: string): string => `${PREFIX}${name}`

/** Provides the bundler with the entry points, as if they lay in the repository's root, and reads them for each build. */
export const entryPoints = (root: string, read: () => Promise<Entries>): Plugin => {
  let entries: Entries = {}
  return {
    name: 'entry-points',
    async buildStart() {
      entries = await read().catch((error) => {
        // A source doesn't compile: the bundler reports where.
        if (Object.keys(entries).length === 0) throw error
        return entries
      })
    },
    resolveId: {
      filter: { id: /^entry:/ },
      handler: (id) => join(root, `.${id.slice(PREFIX.length)}.entry.ts`),
    },
    load: {
      filter: { id: NAME },
      handler(id) {
        this.addWatchFile(join(root, 'functions', 'units.ts'))
        return { code: entries[NAME.exec(id)?.[1] ?? ''] ?? '', moduleType: 'ts' }
      },
    },
  }
}
