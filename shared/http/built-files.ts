import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that were built ahead of time, read once per function instance. */
export interface BuiltFiles {
  /** @throws when no folder has the file: then the build did not run */
  text(name: string): Promise<string>
}

/**
 * Where built files lie: beside the bundle, and, when the sources themselves are run, where the build writes them.
 * CommonJS bundles have `__dirname`, the sources `import.meta.dirname`.
 * @param names folders below `dist`
 */
export const builtFolders = (...names: string[]): string[] => {
  const here = typeof __dirname === 'string' ? __dirname : import.meta.dirname
  return [here, ...names.map((name) => join(here, '../../dist', name))]
}

/** Opens files by their plain names; the first folder that has one counts. */
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
  return {
    text(name) {
      const known = texts.get(name)
      if (known) return known
      const reading = read(name)
      texts.set(name, reading)
      reading.catch(() => texts.delete(name))
      return reading
    },
  }
}
