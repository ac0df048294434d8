import { type Cursor, readJson } from './json-text.ts'

/** The parts of a JSON Schema that completion reads. */
export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  required?: string[]
  enum?: unknown[]
  const?: unknown
  description?: string
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
}

export interface Completion {
  /** Name of the property, or the value. */
  label: string
  description: string
  /** Text that replaces {@link from} up to the position. */
  insert: string
  from: number
}

/** Returns the schema and all alternatives within it, with references resolved. */
const alternatives = (root: JsonSchema, schema: JsonSchema, depth = 0): JsonSchema[] => {
  if (depth > 8) return []
  const target = schema.$ref?.startsWith('#/$defs/') ? root.$defs?.[schema.$ref.slice('#/$defs/'.length)] : undefined
  const inner = [...(target ? [target] : []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...inner.flatMap((one) => alternatives(root, one, depth + 1))]
}

const schemasAt = (root: JsonSchema, path: Cursor['path']): JsonSchema[] =>
  path.reduce<JsonSchema[]>(
    (found, step) =>
      found.flatMap(({ properties, items }) => {
        const next = typeof step === 'number' ? items : properties?.[step]
        return next ? alternatives(root, next) : []
      }),
    alternatives(root, root),
  )

const EMPTY: Record<string, string> = { object: '{}', array: '[]', string: '""' }

const startOf = (root: JsonSchema, schema: JsonSchema): string => {
  const type = alternatives(root, schema).find((one) => one.type !== undefined)?.type
  return EMPTY[Array.isArray(type) ? (type[0] ?? '') : (type ?? '')] ?? ''
}

/** Lists what may be written at a position of a manifest, by its JSON Schema. */
export const completionsAt = (root: JsonSchema, text: string, position: number): Completion[] => {
  const { cursor } = readJson(text, position)
  const { path, isKey, property, word, present, from } = cursor
  const at = schemasAt(root, path)
  const fits = (label: string): boolean => label.toLowerCase().startsWith(word.toLowerCase())
  const seen = new Set<string>()
  const fresh = (label: string): boolean => !seen.has(label) && Boolean(seen.add(label))
  if (isKey) {
    return at
      .flatMap(({ properties = {} }) => Object.entries(properties))
      .filter(([name]) => !present.includes(name) && fits(name) && fresh(name))
      .map(([name, schema]) => ({
        label: name,
        description: schema.description ?? '',
        insert: `"${name}": ${startOf(root, schema)}`,
        from,
      }))
  }
  const value = at.flatMap((one) => {
    const next = property === undefined ? one.items : one.properties?.[property]
    return next ? alternatives(root, next) : []
  })
  return value
    .flatMap((one) => (one.const === undefined ? (one.enum ?? []) : [one.const]))
    .map((one) => ({ one, label: String(one) }))
    .filter(({ label }) => fits(label) && fresh(label))
    .map(({ one, label }) => ({ label, description: '', insert: JSON.stringify(one), from }))
}
