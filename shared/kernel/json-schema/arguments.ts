import type { Mismatch } from './evaluate.ts'
import { appendPointer } from './finding.ts'
import { isObject } from './json-object.ts'
import { resolve } from './references.ts'

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const hasType = (value: unknown, type: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type

/**
 * Checks the arguments of `ask_agent` (contract/agent-to-agent.md#asking-an-agent) against the schema's `required` list
 * and top-level types. The target agent checks anything deeper. `path` is a JSON Pointer, and `message` reads as a
 * continuation of the field's name.
 */
export const checkRequiredAndTopLevelTypes = (schema: unknown, args: unknown): Mismatch[] => {
  if (!isObject(args)) return [{ path: '', message: 'must be an object' }]
  if (!isObject(schema)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  const missing = required
    .filter((name) => typeof name === 'string' && !Object.hasOwn(args, name))
    .map((name) => ({ path: appendPointer('', String(name)), message: 'is required' }))
  const mistyped = Object.entries(properties).flatMap(([name, declared]): Mismatch[] => {
    if (!Object.hasOwn(args, name) || !isObject(declared)) return []
    const target = declared.$ref === undefined ? declared : resolve(schema, declared.$ref)
    const type = isObject(target) ? target.type : undefined
    const types = Array.isArray(type) ? type : [type]
    if (type === undefined || types.some((allowed) => hasType(args[name], allowed))) return []
    return [{ path: appendPointer('', name), message: `must be of type ${types.join(' or ')}` }]
  })
  return [...missing, ...mistyped]
}
