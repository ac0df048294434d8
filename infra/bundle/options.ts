import { fileURLToPath } from 'node:url'
import type { InputOptions, OutputOptions } from 'rolldown'

/** Packages that bundles replace, also where other packages import them. */
const alias = {
  '@aws-sdk/credential-provider-node': fileURLToPath(new URL('environment-credentials.ts', import.meta.url)),
}

/** How functions are bundled. `module` comes before `main`, because only ESM sources can be tree-shaken. */
export const INPUT = {
  platform: 'node',
  resolve: { alias, mainFields: ['module', 'main'] },
  transform: { target: 'node24' },
  tsconfig: false,
  external: [/^node:/],
  logLevel: 'silent',
} satisfies InputOptions

/** Bundles are CommonJS, because an ESM bundle that imports Node's builtins also loads Node's own HTTP client (24 ms of a cold start). */
export const OUTPUT = {
  format: 'cjs',
  exports: 'named',
  dynamicImportInCjs: false,
  minify: true,
  comments: false,
} satisfies OutputOptions
