import { readFileSync } from 'node:fs'
import { DEFAULT_SCOPE } from '../shared/kernel/package-names.ts'

// Set while the package is built.
declare const CLI_VERSION: string | undefined
declare const CLI_SCOPE: string | undefined

export const version = (): string =>
  typeof CLI_VERSION === 'string'
    ? CLI_VERSION
    : JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** Scope of this package, and of the SDK that it puts into projects. */
export const packageScope = (): string => (typeof CLI_SCOPE === 'string' ? CLI_SCOPE : DEFAULT_SCOPE)
