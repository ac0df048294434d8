import type { Mismatch } from './evaluate.ts'
import { under } from './finding.ts'
import { isObject } from './json-object.ts'
import { resolve } from './references.ts'

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const hasType = (value: unknown, type: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type

/**
 * Checks arguments as the specification says for `ask_agent` (rule 3): the schema's `required` list and its top-level
 * types, nothing deeper; the target checks the rest itself. `path` is a JSON Pointer, `message` follows the name.
 */
export const checkRequiredAndTopLevelTypes = (schema: unknown, args: unknown): Mismatch[] => {
  if (!isObject(args)) return [{ path: '', message: 'must be an object' }]
  if (!isObject(schema)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  const missing = required
    .filter((name) => typeof name === 'string' && !Object.hasOwn(args, name))
    .map((name) => ({ path: under('', String(name)), message: 'is required' }))
  const mistyped = Object.entries(properties).flatMap(([name, declared]): Mismatch[] => {
    if (!Object.hasOwn(args, name) || !isObject(declared)) return []
    const target = declared.$ref === undefined ? declared : resolve(schema, declared.$ref)
    const type = isObject(target) ? target.type : undefined
    const types = Array.isArray(type) ? type : [type]
    if (type === undefined || types.some((one) => hasType(args[name], one))) return []
    return [{ path: under('', name), message: `must be of type ${types.join(' or ')}` }]
  })
  return [...missing, ...mistyped]
}
