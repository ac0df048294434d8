import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { withinBounds } from './bounds.ts'
import { type Finding, under } from './finding.ts'
import { isObject, type JsonObject } from './json-object.ts'
import { judgePattern } from './pattern.ts'
import { resolve } from './references.ts'
import { worded } from './wording.ts'

/** A value larger than this is not validated: it bounds what a check costs, whatever the schema. */
const VALUE_BOUNDS = { depth: 32, nodes: 5_000, characters: 1_048_576 }

export type Mismatch = Pick<Finding, 'path' | 'message'>

/** Errors that only say that something inside them failed; what failed is in the list as well. */
const WRAPPERS = new Set(['properties', 'items', 'prefixItems', 'additionalProperties', '$ref', 'allOf'])

/** The lowest of the limits up to which each `pattern` in a schema may be matched. */
const longestText = (schema: unknown): number => {
  if (typeof schema !== 'object' || schema === null) return Number.POSITIVE_INFINITY
  let longest = Number.POSITIVE_INFINITY
  for (const [key, value] of Object.entries(schema)) {
    const verdict = key === 'pattern' && typeof value === 'string' ? judgePattern(value) : undefined
    longest = Math.min(longest, verdict === undefined ? longestText(value) : 'longest' in verdict ? verdict.longest : 0)
  }
  return longest
}

const tooLong = (value: unknown, longest: number, path = ''): Mismatch[] => {
  if (typeof value === 'string')
    return value.length > longest ? [{ path, message: `is longer than ${longest} characters` }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => tooLong(member, longest, under(path, key)))
}

/** The validator's locations are pointers in a URI fragment: `#/a~1b%20c`. */
const stepsOf = (location: string): string[] =>
  location
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))

const member = (value: unknown, step: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string, unknown>)[step]
    : undefined

/** What stands at a keyword's location, in which `$ref` is a step to where it points. */
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
    const path = steps.reduce(under, '')
    const limit = keyword === 'false' ? undefined : keywordValue(schema, keywordLocation)
    const add = (at: string, message: string) => found.set(`${at}\n${message}`, { path: at, message })
    if (keyword === 'required') {
      const instance = steps.reduce<unknown>(member, value)
      for (const name of Array.isArray(limit) ? limit : [])
        if (isObject(instance) && !Object.hasOwn(instance, String(name))) add(under(path, String(name)), 'is required')
    } else add(path, worded(keyword, limit))
  }
  return [...found.values()].slice(0, 100)
}

/**
 * Every way in which a value departs from a schema that `checkSchema` has accepted; an empty list when it fits.
 * `path` is a JSON Pointer into the value, `message` follows the name ("must be 3 or less"). Never throws, and is
 * bounded for any value: a too large one is one mismatch.
 */
export const validateAgainst = (schema: unknown, value: unknown): Mismatch[] => {
  if (typeof schema === 'boolean') return schema ? [] : [{ path: '', message: 'is not expected here' }]
  if (!isObject(schema)) return [{ path: '', message: 'cannot be checked: its schema is unusable' }]
  const outOfBounds = withinBounds(value, VALUE_BOUNDS).list
  if (outOfBounds.length > 0) return outOfBounds.map(({ path, message }) => ({ path, message }))
  const long = tooLong(value, longestText(schema))
  if (long.length > 0) return long
  const { errors } = new Validator(schema as Schema, '2020-12', false).validate(value)
  return mismatches(schema, value, errors)
}
