import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

/** What a page is built from beside itself, as folders next to it. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  console: ['client', '../session', '../theme', '../built'],
  admin: ['client', '../console/client', '../session', '../theme', '../built'],
}

/** Lets a watching build see a page's own sources, which Vite builds and esbuild never reads. */
export const pageSources: Plugin = {
  name: 'page-sources',
  setup(build) {
    build.onLoad({ filter: /web[\\/](console|admin)[\\/]page\.ts$/ }, async ({ path }) => {
      const here = dirname(path)
      const folders = (FOLDERS[basename(here)] ?? []).map((folder) => join(here, folder))
      const files = await Promise.all(
        folders.map(async (folder) =>
          (await readdir(folder, { recursive: true, withFileTypes: true }))
            .filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))
            .map((entry) => join(entry.parentPath, entry.name)),
        ),
      )
      return { contents: await readFile(path, 'utf8'), loader: 'ts', watchFiles: files.flat(), watchDirs: folders }
    })
  },
}
