import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'rolldown'

/**
 * Makes a watching build notice changes of the page sources in `web`, which Vite builds and functions don't import. The page's own
 * build decides which of them matter.
 */
export const pageSources: Plugin = {
  name: 'page-sources',
  transform: {
    filter: { id: /web[\\/](console|admin)[\\/]page\.ts$/ },
    async handler(_code, id) {
      const web = dirname(dirname(id))
      const below = await readdir(web, { recursive: true, withFileTypes: true })
      for (const entry of below) {
        if (entry.isFile() && !entry.name.endsWith('.d.ts')) this.addWatchFile(join(entry.parentPath, entry.name))
      }
      return null
    },
  },
}
