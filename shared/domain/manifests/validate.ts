import { withinBounds } from '../../kernel/json-schema/bounds.ts'
import { newCheck } from '../../kernel/json-schema/check-schema.ts'
import type { Finding } from '../../kernel/json-schema/finding.ts'
import { isObject } from '../../kernel/json-schema/json-object.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { addFormFindings } from './findings-of-form.ts'
import { type ManifestContext, RULES } from './rules.ts'
import { type Manifest, manifestSchema } from './schema.ts'

export interface ManifestReport {
  valid: boolean
  errors: Finding[]
  warnings: Finding[]
  /** Only when valid. */
  manifest?: Manifest
}

/** Enough for 100 tools with rich schemas; less than what would be slow to look through. */
const BOUNDS = { depth: 64, nodes: 20_000, characters: LIMITS.manifestBytes }

/** What concerns one place stands together, whichever check found it. */
const sorted = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0))

/**
 * Checks a manifest and tells every error at once, each with its JSON Pointer and how to mend it. Any JSON value gets an
 * answer, in bounded time: it never throws. Publish, `validate`, editor and review all use this one function.
 */
export const validateManifest = (input: unknown, context: ManifestContext): ManifestReport => {
  const unreadable = withinBounds(input, BOUNDS).list
  if (unreadable.length > 0) return { valid: false, errors: unreadable, warnings: [] }
  const check = newCheck()
  const parsed = manifestSchema.safeParse(input)
  if (!parsed.success) addFormFindings(check.errors, input, parsed.error.issues)
  if (isObject(input)) for (const rule of RULES) rule(check, input, context)
  const errors = sorted(check.errors.list)
  const warnings = sorted(check.warnings.list)
  return parsed.success && errors.length === 0
    ? { valid: true, errors, warnings, manifest: parsed.data }
    : { valid: false, errors, warnings }
}
