import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { withinBounds } from './bounds.ts'
import { appendPointer, type Finding } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { analyzePattern } from './pattern.ts'
import { resolve } from './references.ts'
import { describeMismatch } from './wording.ts'

/** Largest value that is validated. Bounds the cost of a check for any schema. */
const VALUE_BOUNDS = { depth: 32, nodes: 5_000, characters: 1_048_576 }

export type Mismatch = Pick<Finding, 'path' | 'message'>

/** Keywords whose errors only report a nested error, which is also in the list. */
const WRAPPERS = new Set(['properties', 'items', 'prefixItems', 'additionalProperties', '$ref', 'allOf'])

/** Returns the longest text that every `pattern` in a schema may be matched against. */
const longestText = (schema: unknown): number => {
  if (typeof schema !== 'object' || schema === null) return Number.POSITIVE_INFINITY
  let longest = Number.POSITIVE_INFINITY
  for (const [key, value] of Object.entries(schema)) {
    const verdict = key === 'pattern' && typeof value === 'string' ? analyzePattern(value) : undefined
    longest = Math.min(longest, verdict === undefined ? longestText(value) : 'longest' in verdict ? verdict.longest : 0)
  }
  return longest
}

const tooLong = (value: unknown, longest: number, path = ''): Mismatch[] => {
  if (typeof value === 'string')
    return value.length > longest ? [{ path, message: `is longer than ${longest} characters` }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => tooLong(member, longest, appendPointer(path, key)))
}

/** Splits a location of the validator, a pointer in a URI fragment such as `#/a~1b%20c`. */
const stepsOf = (location: string): string[] =>
  location
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))

const member = (value: unknown, step: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string, unknown>)[step]
    : undefined

/** Returns the value at a keyword's location. A `$ref` step in the location is followed to its target. */
const keywordValue = (root: JsonObject, location: string): unknown =>
  stepsOf(location).reduce<unknown>((at, step, index, steps) => {
    const value = member(at, step)
    const followed = step === '$ref' && index < steps.length - 1 && typeof value === 'string'
    return followed ? resolve(root, value) : value
  }, root)

const mismatches = (schema: JsonObject, value: unknown, units: readonly OutputUnit[]): Mismatch[] => {
  const choices = units.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const found = new Map<string, Mismatch>()
  for (const { keyword, keywordLocation, instanceLocation } of units) {
    if (WRAPPERS.has(keyword) || choices.some((choice) => keywordLocation.startsWith(`${choice.keywordLocation}/`)))
      continue
    const steps = stepsOf(instanceLocation)
    const path = steps.reduce(appendPointer, '')
    const limit = keyword === 'false' ? undefined : keywordValue(schema, keywordLocation)
    const add = (at: string, message: string) => found.set(`${at}\n${message}`, { path: at, message })
    if (keyword === 'required') {
      const instance = steps.reduce<unknown>(member, value)
      for (const name of Array.isArray(limit) ? limit : [])
        if (isObject(instance) && !Object.hasOwn(instance, String(name)))
          add(appendPointer(path, String(name)), 'is required')
    } else add(path, describeMismatch(keyword, limit))
  }
  return [...found.values()].slice(0, 100)
}

/**
 * Returns every mismatch between a value and a schema that `checkSchema` has accepted, or an empty list.
 * `path` is a JSON Pointer into the value. `message` reads as a continuation of the field's name ("must be 3 or less").
 * Never throws. A value that is too large gives one mismatch, so the cost is bounded for any value.
 */
export const validateAgainst = (schema: unknown, value: unknown): Mismatch[] => {
  if (typeof schema === 'boolean') return schema ? [] : [{ path: '', message: 'is not expected here' }]
  if (!isObject(schema)) return [{ path: '', message: 'cannot be checked because its schema is invalid' }]
  const outOfBounds = withinBounds(value, VALUE_BOUNDS).list
  if (outOfBounds.length > 0) return outOfBounds.map(({ path, message }) => ({ path, message }))
  const long = tooLong(value, longestText(schema))
  if (long.length > 0) return long
  const { errors } = new Validator(schema as Schema, '2020-12', false).validate(value)
  return mismatches(schema, value, errors)
}
