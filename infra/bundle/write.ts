import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OutputChunk, Plugin } from 'rolldown'

const writeChanged = async (file: string, contents: string): Promise<void> => {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === contents) return
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, contents)
}

/**
 * Writes the files of a build that have changed. A function that is running may load any of the others at the same time, so the
 * bundler, which would write all of them, is left nothing to write.
 *
 * @param dir folder to which the chunks' file names are relative. Source maps go to `maps` in it, which isn't deployed
 * @param written called after each build
 */
export const writeFiles = (dir: string, written: (chunks: OutputChunk[]) => void): Plugin => ({
  name: 'write-files',
  async generateBundle(_options, output) {
    const files = Object.entries(output)
    // One after another: there are hundreds, and a process may have only 256 open.
    for (const [name, one] of files) {
      if (one.type === 'chunk') await writeChanged(join(dir, name), one.code)
      else await writeChanged(join(dir, 'maps', name), String(one.source))
    }
    written(files.flatMap(([, one]) => (one.type === 'chunk' ? [one] : [])))
    for (const [name] of files) delete output[name]
  },
})
