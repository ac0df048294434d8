import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/**
 * Leaves zod's JSON Schema generator out: every schema refers to it, and no function calls it. What needs it is computed
 * ahead of time (`*.prebuilt.ts`, the OpenAPI document).
 */
export const noSchemaGenerator: Plugin = {
  name: 'no-schema-generator',
  setup(build) {
    build.onLoad(
      { filter: /zod[\\/]v4[\\/]core[\\/](to-json-schema|json-schema-processors)\.js$/ },
      async ({ path }) => {
        const source = await readFile(path, 'utf8')
        const names = [...source.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name]) => name)
        return { contents: names.map((name) => `export const ${name} = () => {}`).join('\n'), loader: 'js' }
      },
    )
  },
}
