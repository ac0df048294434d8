import { canonicalJson } from '#shared/kernel/canonical-json.ts'

/** Removes everything empty, at any depth, as the official libraries do before they verify. */
const withoutEmpty = (value: unknown): unknown => {
  if (value === '' || value === null || value === undefined) return undefined
  if (typeof value !== 'object') return value
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const cleaned = withoutEmpty(inner)
    return cleaned === undefined ? [] : [[name, cleaned] as const]
  })
  if (kept.length === 0) return undefined
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept)
}

/** Returns what a card's signature covers: the canonical JSON (RFC 8785) of the card without its signatures and without anything empty. */
export const signedContent = (card: Readonly<Record<string, unknown>>): string =>
  canonicalJson(withoutEmpty({ ...card, signatures: undefined }))
