import { sample as drawn, stringMatching } from 'fast-check'
import { BY_FORMAT, textFor } from './sample-values.ts'
import type { Json } from './schemas.ts'

const MAX_DEPTH = 8

/** Where a value belongs: its field, and the field that holds its object. */
interface Place {
  name: string
  parent: string
  depth: number
}

/**
 * An example value of a schema, always the same, made from the examples, defaults and enumerations inside it; where there
 * are none, from the field’s type, format, bounds and name. What may be null and has no example is null.
 * @param name the field’s, or that of what the schema describes
 */
export const sampleOf = (schema: Json, components: Record<string, Json>, name = ''): unknown =>
  sample(schema, components, { name, parent: '', depth: 0 })

const sample = (schema: Json, components: Record<string, Json>, place: Place): unknown => {
  const deeper = { ...place, depth: place.depth + 1 }
  if ('example' in schema) return schema.example
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (typeof schema.$ref === 'string') {
    const component = schema.$ref.split('/').at(-1) ?? ''
    const target = components[component]
    if (!target || place.depth >= MAX_DEPTH) return null
    return sample(target, components, deeper.name === '' ? { ...deeper, name: nounOf(component) } : deeper)
  }
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return sample(alternatives[0] as Json, components, deeper)
  if (Array.isArray(schema.allOf)) {
    const parts = [...(schema.allOf as Json[]), ...(schema.properties ? [{ ...schema, allOf: undefined }] : [])]
    const samples = parts.map((part) => sample(part, components, deeper))
    return samples.every(isObject) ? Object.assign({}, ...samples) : samples[0]
  }
  if (Array.isArray(schema.type)) {
    return schema.type.includes('null') ? null : ofType({ ...schema, type: schema.type[0] }, components, place)
  }
  return ofType(schema, components, place)
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `AgentRequest` → `agent_request`: what a component’s own fields are named after. */
const nounOf = (component: string): string =>
  component.replaceAll(/(?<=[a-z])([A-Z])/g, (_, letter: string) => `_${letter}`).toLowerCase()

const ofType = (schema: Json, components: Record<string, Json>, place: Place): unknown => {
  switch (schema.type) {
    case 'object': {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>)
      if (place.depth >= MAX_DEPTH) return {}
      return Object.fromEntries(
        properties.map(([name, one]) => [
          name,
          sample(one, components, { name, parent: place.name, depth: place.depth + 1 }),
        ]),
      )
    }
    case 'array':
      return listOf(schema, components, place)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'string':
      return textOf(schema, place)
    default:
      return null
  }
}

const listOf = (schema: Json, components: Record<string, Json>, place: Place): unknown[] => {
  if (!schema.items) return []
  const item = sample(schema.items as Json, components, { ...place, depth: place.depth + 1 })
  return Array.from({ length: Math.max(1, Number(schema.minItems ?? 1)) }, () => item)
}

const numberOf = ({ minimum, exclusiveMinimum, maximum, multipleOf }: Json): number => {
  const least = Number(minimum ?? (exclusiveMinimum === undefined ? 0 : Number(exclusiveMinimum) + 1))
  const wanted = Math.max(1, least, multipleOf === undefined ? 1 : Number(multipleOf))
  return typeof maximum === 'number' ? Math.min(wanted, maximum) : wanted
}

const textOf = (schema: Json, { name, parent }: Place): string => {
  const text = BY_FORMAT[String(schema.format)] ?? textFor(name, parent)
  const long = text.padEnd(Number(schema.minLength ?? 0), 'x')
  const fitting = typeof schema.maxLength === 'number' ? long.slice(0, schema.maxLength) : long
  const pattern = typeof schema.pattern === 'string' ? new RegExp(schema.pattern, 'u') : undefined
  return pattern === undefined || pattern.test(fitting) ? fitting : matching(pattern)
}

/** A text that fits a pattern, always the same. */
const matching = (pattern: RegExp): string => drawn(stringMatching(pattern), { numRuns: 1, seed: 1 })[0] ?? ''
