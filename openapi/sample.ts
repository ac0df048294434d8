import { sample as drawn, stringMatching } from 'fast-check'
import { sample } from 'openapi-sampler'
import { BY_FORMAT, textFor } from './sample-values.ts'
import type { Json } from './schemas.ts'

/** Prefix of the placeholder for a text that depends on its field's name. The schema follows. */
const TEXT = '\0text:'
const VALUES = ['example', 'examples', 'const', 'default', 'enum']

/**
 * Builds an example of a schema, which is the same in every build. Uses the schema's examples, defaults and enumerations, or
 * else its types, bounds and field names. A nullable field without an example is null.
 */
export const sampleOf = (schema: Json, components: Record<string, Json>): unknown => {
  const schemas = mapped(components)
  const name = typeof schema.$ref === 'string' ? nounOf(schema.$ref.split('/').at(-1) ?? '') : ''
  return named(sample(prepared(schema), { quiet: true }, { openapi: '3.1.0', components: { schemas } }), name, '')
}

const done = new WeakMap<Json, Json>()
const prepared = (schema: Json): Json => {
  const made = done.get(schema) ?? prepare(schema)
  done.set(schema, made)
  return made
}

/** Copies a schema for the sampler, which doesn't know field names and uses the first of several types. */
const prepare = (schema: Json): Json => {
  if (VALUES.some((keyword) => keyword in schema)) return schema
  const { properties, items } = schema
  const [type, ...more] = [schema.type].flat()
  const lists = ['anyOf', 'oneOf', 'allOf'].filter((keyword) => Array.isArray(schema[keyword]))
  const isAnything = type === undefined && lists.length === 0 && !('$ref' in schema)
  if (isAnything || more.includes('null')) return { example: null }
  if (type === 'string') return { example: BY_FORMAT[String(schema.format)] ?? `${TEXT}${JSON.stringify(schema)}` }
  if (type === 'integer' || type === 'number') {
    const { minimum, maximum, exclusiveMinimum: above, ...rest } = schema
    const least = Number(minimum ?? (above === undefined ? 0 : Number(above) + 1))
    return { ...rest, minimum: Math.min(Math.max(least, 1), Number(maximum ?? Number.POSITIVE_INFINITY)) }
  }
  return {
    ...schema,
    additionalProperties: false,
    ...(properties !== undefined && { properties: mapped(properties as Record<string, Json>) }),
    ...(items !== undefined && { items: prepared(items as Json) }),
    ...Object.fromEntries(lists.map((keyword) => [keyword, (schema[keyword] as Json[]).map(prepared)])),
  }
}

const mapped = (schemas: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, prepared(schema)]))

/** Replaces placeholders with texts. */
const named = (value: unknown, name: string, parent: string): unknown => {
  if (typeof value === 'string' && value.startsWith(TEXT))
    return textOf(JSON.parse(value.slice(TEXT.length)), name, parent)
  if (Array.isArray(value)) return value.map((item) => named(item, name, parent))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, property]) => [field, named(property, field, name)]))
}

const textOf = (schema: { minLength?: number; maxLength?: number; pattern?: string }, name: string, parent: string) => {
  const text = textFor(name, parent)
    .padEnd(schema.minLength ?? 0, 'x')
    .slice(0, schema.maxLength)
  const pattern = new RegExp(schema.pattern ?? '', 'u')
  return pattern.test(text) ? text : drawn(stringMatching(pattern), { numRuns: 1, seed: 1 })[0]
}

/** Converts a component's name to a field name: `AgentRequest` becomes `agent_request`. */
const nounOf = (component: string): string =>
  component.replaceAll(/(?<=[a-z])([A-Z])/g, (_, letter: string) => `_${letter}`).toLowerCase()
