import { fileURLToPath } from 'node:url'

/** Packages that bundles replace. esbuild's `alias` also applies to imports in other packages. */
export const alias = {
  '@aws-sdk/credential-provider-node': fileURLToPath(new URL('environment-credentials.ts', import.meta.url)),
}
