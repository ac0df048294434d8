import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

/**
 * Runs modules named `*.prebuilt.ts` at build time and bundles the plain data that they export. The library that computes
 * the data is then neither in the bundle nor part of a cold start. A module exports other files that it reads as `watchFiles`.
 */
export const prebuilt: Plugin = {
  name: 'prebuilt',
  setup(build) {
    build.onLoad({ filter: /\.prebuilt\.ts$/ }, async ({ path }) => {
      // A different URL each time, so that a watching build sees changes.
      const { watchFiles = [], ...values } = await import(`${pathToFileURL(path)}?at=${Date.now()}`)
      const contents = Object.entries(values).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
      return { contents: contents.join('\n'), loader: 'js', watchFiles }
    })
  },
}
