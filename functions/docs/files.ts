import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the documentation's build says of one file (`docs-assets/docs-files.json`). */
export interface DocsFile {
  path: string
  contentType: string
  headers: Record<string, string>
  /** Its name beside the bundle. */
  file: string
  /** SHA-256 of the content in hex. */
  hash: string
}

/** Files that were built ahead of time, read once per function instance. */
export interface BuiltFiles {
  /** @throws when no folder has the file: then the build did not run */
  text(name: string): Promise<string>
  /** The file that is served under a path; undefined for a path that the build does not know. */
  at(path: string): Promise<DocsFile | undefined>
}

/**
 * Where the built files lie: beside the bundle, and, when the sources themselves are run, where the build writes them.
 * CommonJS bundles have `__dirname`, the sources `import.meta.dirname`.
 */
export const builtFolders = (): string[] => {
  const here = typeof __dirname === 'string' ? __dirname : import.meta.dirname
  return [here, join(here, '../../dist/openapi'), join(here, '../../dist/docs-assets')]
}

export const openBuiltFiles = (folders: readonly string[]): BuiltFiles => {
  const texts = new Map<string, Promise<string>>()
  const read = async (name: string): Promise<string> => {
    for (const folder of folders) {
      try {
        return await readFile(join(folder, name), 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    throw new Error(`${name} was not built`)
  }
  const text = (name: string): Promise<string> => {
    const known = texts.get(name)
    if (known) return known
    const reading = read(name)
    texts.set(name, reading)
    reading.catch(() => texts.delete(name))
    return reading
  }
  return {
    text,
    // Names come from the build's own table, never from the request.
    async at(path) {
      const { files } = JSON.parse(await text('docs-files.json')) as { files: DocsFile[] }
      return files.find((file) => file.path === path)
    },
  }
}
