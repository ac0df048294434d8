import { withinBounds } from '#shared/kernel/json-schema/bounds.ts'
import { newCheck } from '#shared/kernel/json-schema/check-schema.ts'
import type { Finding } from '#shared/kernel/json-schema/finding.ts'
import { isObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { addFormFindings } from './findings-of-form.ts'
import { type ManifestContext, RULES } from './rules.ts'
import { type Manifest, manifestSchema } from './schema.ts'

export interface ManifestReport {
  valid: boolean
  errors: Finding[]
  warnings: Finding[]
  /** Set only if valid. */
  manifest?: Manifest
}

/** Limits of a manifest. Fit 100 tools with rich schemas, and keep validation fast. */
const BOUNDS = { depth: 64, nodes: 20_000, characters: LIMITS.manifestBytes }

/** Sorts findings by path, so that findings of different checks about one place are together. */
const sorted = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))

/**
 * Validates a manifest and returns every error at once, each with its JSON Pointer and fix. Handles any JSON value in
 * bounded time and never throws. Publish, `validate`, editor and review all use this function.
 */
export const validateManifest = (input: unknown, context: ManifestContext): ManifestReport => {
  const outOfBounds = withinBounds(input, BOUNDS).list
  if (outOfBounds.length > 0) return { valid: false, errors: outOfBounds, warnings: [] }
  const check = newCheck()
  const parsed = manifestSchema().safeParse(input)
  if (!parsed.success) addFormFindings(check.errors, input, parsed.error.issues)
  if (isObject(input)) for (const rule of RULES) rule(check, input, context)
  const errors = sorted(check.errors.list)
  const warnings = sorted(check.warnings.list)
  return parsed.success && errors.length === 0
    ? { valid: true, errors, warnings, manifest: parsed.data }
    : { valid: false, errors, warnings }
}
