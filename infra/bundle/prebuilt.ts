import { pathToFileURL } from 'node:url'
import type { Plugin } from 'rolldown'

/**
 * Runs modules named `*.prebuilt.ts` at build time and bundles the plain data that they export. The library that computes
 * the data is then neither in the bundle nor part of a cold start. A module exports other files that it reads as `watchFiles`.
 */
export const prebuilt: Plugin = {
  name: 'prebuilt',
  load: {
    filter: { id: /\.prebuilt\.ts$/ },
    async handler(id) {
      // A different URL each time, so that a watching build sees changes.
      const { watchFiles = [], ...values } = await import(`${pathToFileURL(id)}?at=${Date.now()}`)
      for (const file of watchFiles) this.addWatchFile(file)
      const code = Object.entries(values).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
      return { code: code.join('\n'), moduleType: 'js' }
    },
  },
}
