import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { NewAuditEntry } from './entity.ts'

/** Returns the hash before a scope's very first entry. */
export const genesisOf = (scope: string): string => sha256(`audit of ${scope}`)

/** Returns the hash of an entry after another: SHA-256 of that one's hash, a line break, and the entry's canonical JSON. */
export const hashAfter = (previous: string, entry: NewAuditEntry): string =>
  sha256(`${previous}\n${canonicalJson(contentOf(entry))}`)

/** Returns what an entry says, without its place in the chain. Undefined fields are absent, as in the store. */
export const contentOf = (given: NewAuditEntry & { chain?: unknown }): unknown => {
  const { chain: _chain, ...content } = given
  return JSON.parse(JSON.stringify(content))
}
