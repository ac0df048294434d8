import { readFileSync } from 'node:fs'

/** Set while the package is built. */
declare const CLI_VERSION: string | undefined

export const version = (): string =>
  typeof CLI_VERSION === 'string'
    ? CLI_VERSION
    : JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
