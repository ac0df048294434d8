import type { PlatformError } from './errors.ts'
import { isObject } from './json-schema/json-object.ts'
import { truncate } from './truncate.ts'

/** Longest description of an error’s details. A message of hundreds of fields would hide what it says first. */
const LONGEST = 4_000

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (!isObject(value)) return JSON.stringify(value)
  const lines = Object.entries(value).map(([name, inner]) => {
    const isList = Array.isArray(inner) && inner.every((one) => typeof one === 'string')
    return `${name}: ${isList ? inner.join(', ') : textOf(inner)}`
  })
  return lines.join('; ')
}

/**
 * Returns an error as one text: its message, its fix, and the details that the fix refers to. Most frameworks show a model
 * the text of an error, and nothing else.
 */
export const errorText = ({ message, fix, details }: PlatformError): string => {
  const named = Object.entries(details).map(([name, value]) => `details.${name}: ${textOf(value)}`)
  return [`${message} ${fix}`, ...named.map((line) => truncate(line, LONGEST))].join('\n')
}
