import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * Makes a watching build notice changes of the page sources in `web`, which Vite builds and esbuild never reads. The page's own
 * build decides which of them matter.
 */
export const pageSources: Plugin = {
  name: 'page-sources',
  setup(build) {
    build.onLoad({ filter: /web[\\/](console|admin)[\\/]page\.ts$/ }, async ({ path }) => {
      const web = dirname(dirname(path))
      const below = await readdir(web, { recursive: true, withFileTypes: true })
      const pathsOf = (entries: typeof below) => entries.map((entry) => join(entry.parentPath, entry.name))
      return {
        contents: await readFile(path, 'utf8'),
        loader: 'ts',
        watchFiles: pathsOf(below.filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))),
        watchDirs: [web, ...pathsOf(below.filter((entry) => entry.isDirectory()))],
      }
    })
  },
}
