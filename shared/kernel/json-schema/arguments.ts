import { hasType, type Mismatch } from './evaluate.ts'
import { appendPointer } from './finding.ts'
import { isObject } from './json-object.ts'
import { isType } from './keywords.ts'
import { followed } from './references.ts'

/**
 * Checks the arguments of `ask_agent` (contract/agent-to-agent.md#asking-an-agent) against the schema's `required` list
 * and top-level types. The target agent checks anything deeper. `path` is a JSON Pointer, and `message` reads as a
 * continuation of the field's name.
 */
export const checkRequiredAndTopLevelTypes = (schema: unknown, args: unknown): Mismatch[] => {
  if (!isObject(args)) return [{ path: '', message: 'must be an object' }]
  if (!isObject(schema)) return []
  const whole = followed(schema, schema)
  const required = whole.flatMap((part) => (Array.isArray(part.required) ? part.required : []))
  const properties = whole.flatMap((part) => (isObject(part.properties) ? Object.entries(part.properties) : []))
  const missing = required
    .filter((name) => typeof name === 'string' && !Object.hasOwn(args, name))
    .map((name) => ({ path: appendPointer('', String(name)), message: 'is required' }))
  const mistyped = properties.flatMap(([name, declared]): Mismatch[] => {
    if (!Object.hasOwn(args, name)) return []
    const types = followed(schema, declared).find(({ type }) => type !== undefined)?.type
    const allowed = (Array.isArray(types) ? types : [types]).filter((type) => typeof type === 'string')
    if (allowed.length === 0 || allowed.some((type) => !isType(type) || hasType(args[name], type))) return []
    return [{ path: appendPointer('', name), message: `must be of type ${allowed.join(' or ')}` }]
  })
  return [...missing, ...mistyped]
}
