import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Prebuilt files, read once per function instance. */
export interface BuiltFiles {
  /**
   * Reads a file.
   * @throws if no folder contains the file, because the build did not run
   */
  text(name: string): Promise<string>
  /** Reads a file as bytes. @throws as above */
  bytes(name: string): Promise<Uint8Array>
}

/**
 * Returns the folders of built files: next to the bundle and, if the sources run directly, where the build writes them.
 * CommonJS bundles have `__dirname`, the sources `import.meta.dirname`.
 * @param names folders below `dist`
 */
export const builtFolders = (...names: string[]): string[] => {
  const here = typeof __dirname === 'string' ? __dirname : import.meta.dirname
  return names.flatMap((name) => [join(here, name), join(here, '../../dist', name)])
}

/**
 * Address of the local run, which samples and guides contain. Served files replace it with the address they come from.
 */
export const LOCAL_ADDRESS = 'http://127.0.0.1:3000'

/** Remembers what was read. A failure is tried again. */
const once = <T>(read: (name: string) => Promise<T>): ((name: string) => Promise<T>) => {
  const readings = new Map<string, Promise<T>>()
  return (name) => {
    const known = readings.get(name)
    if (known) return known
    const reading = read(name)
    readings.set(name, reading)
    reading.catch(() => readings.delete(name))
    return reading
  }
}

/** Opens files by their plain names. The first folder that contains one wins. */
export const openBuiltFiles = (folders: readonly string[]): BuiltFiles => {
  const read = async (name: string): Promise<Buffer> => {
    for (const folder of folders) {
      try {
        return await readFile(join(folder, name))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    throw new Error(`${name} was not built`)
  }
  return {
    text: once(async (name) => (await read(name)).toString('utf8')),
    bytes: once(read),
  }
}
