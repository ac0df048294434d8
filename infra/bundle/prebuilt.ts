import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

/**
 * Modules named `*.prebuilt.ts` export plain data that takes a library to compute. They are run here, and the bundle gets
 * their values: the library neither weighs on it nor runs in a cold start. What one was made of besides itself it exports
 * as `watchFiles`.
 */
export const prebuilt: Plugin = {
  name: 'prebuilt',
  setup(build) {
    build.onLoad({ filter: /\.prebuilt\.ts$/ }, async ({ path }) => {
      // Under another address each time, so that watching sees changes.
      const { watchFiles = [], ...values } = await import(`${pathToFileURL(path)}?at=${Date.now()}`)
      const contents = Object.entries(values).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
      return { contents: contents.join('\n'), loader: 'js', watchFiles }
    })
  },
}
