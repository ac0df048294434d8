import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * Lets a watching build see a page's own sources, which Vite builds and esbuild never reads: whatever lies below `web`. The
 * page's own build knows which of it counts.
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
