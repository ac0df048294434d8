import { t } from './messages.ts'

/** Returns what a scope allows. The API describes it in English, other languages have texts of their own. */
export const scopeText = (scope: string, description: string): string =>
  t('{scope, select, other {{description}}}', { scope: scope.replace(':', '_'), description })
