import { type IdKind, PREFIXES } from '../kernel/ids.ts'
import type { Json } from './schemas.ts'

const MAX_DEPTH = 8

/**
 * An example value of a schema, made from the examples, defaults and enumerations inside it; where there are none, from
 * the field's type and name. What may be null and has no example is null.
 */
export const sampleOf = (schema: Json, components: Record<string, Json>, name = '', depth = 0): unknown => {
  if (typeof schema.$ref === 'string') {
    const target = components[schema.$ref.split('/').at(-1) ?? '']
    return target && depth < MAX_DEPTH ? sampleOf(target, components, name, depth + 1) : null
  }
  if ('example' in schema) return schema.example
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return sampleOf(alternatives[0] as Json, components, name, depth + 1)
  if (Array.isArray(schema.type))
    return schema.type.includes('null') ? null : ofType({ ...schema, type: schema.type[0] }, components, name, depth)
  return ofType(schema, components, name, depth)
}

const ofType = (schema: Json, components: Record<string, Json>, name: string, depth: number): unknown => {
  switch (schema.type) {
    case 'object': {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>)
      return depth < MAX_DEPTH
        ? Object.fromEntries(properties.map(([field, one]) => [field, sampleOf(one, components, field, depth + 1)]))
        : {}
    }
    case 'array':
      return schema.items ? [sampleOf(schema.items as Json, components, name, depth + 1)] : []
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? Math.max(schema.minimum, 1) : 1
    case 'boolean':
      return true
    case 'string':
      return FORMATS[String(schema.format)] ?? idOf(name) ?? 'text'
    default:
      return null
  }
}

const FORMATS: Record<string, string> = {
  uri: 'https://example.com/',
  email: 'somebody@example.com',
  uuid: '7f1c2a9e-3b0d-4c55-9d0f-0f6f5a1f2b3c',
}

/** `app_id` → `app_…` */
const idOf = (name: string): string | undefined => {
  const prefix = name.endsWith('_id') ? PREFIXES[name.slice(0, -'_id'.length) as IdKind] : undefined
  return prefix && `${prefix}_01kae5m1v8w6c3x9q2r7t4y0zn`
}
