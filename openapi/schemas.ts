import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'

export type Json = Record<string, unknown>

/** Temporary marks of a future component: its id, and the keywords next to its reference. */
const ID = 'x-component-id'
const SIBLINGS = 'x-siblings'

/** Metadata that isn't part of the reference. */
const NOT_SHOWN = new Set(['id', 'fix', 'schemaRef'])

const noMetadata = z.registry<Json>()

/**
 * Converts zod schemas to schemas of the document. Those with an `id` become components.
 *
 * Schemas are created at first use, so several objects can describe the same component, even within one schema. zod's own
 * conversion (and zod-openapi, which uses it) rejects that. This class accepts it if the objects are equal.
 */
export class Schemas {
  readonly components: Record<string, Json>
  readonly #given: ReadonlySet<string>

  /** @param given components that are built elsewhere. Schemas with their ids refer to them. */
  constructor(given: Record<string, Json> = {}) {
    this.components = { ...given }
    this.#given = new Set(Object.keys(given))
  }

  /** @param io whether a client sends the schema (`input`: fields with a default are optional) or receives it (`output`) */
  of(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _, ...json } = z.toJSONSchema(schema, {
      io,
      metadata: noMetadata,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // Responses can gain fields (contract/versioning.md#compatibility), so clients must accept unknown ones.
        if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
        dropImplied(jsonSchema as Json)
        annotate(jsonSchema as Json, z.globalRegistry.get(zodSchema) as Json | undefined)
        sayEmptyDefault(jsonSchema as Json)
        sayConstant(jsonSchema as Json)
      },
    })
    return this.#extract(json, io) as Json
  }

  /** Replaces marked schemas with references, innermost first. */
  #extract(value: unknown, io: 'input' | 'output'): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#extract(item, io))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, property]) => [name, this.#extract(property, io)])
    const { [ID]: id, [SIBLINGS]: siblings, ...schema } = Object.fromEntries(entries) as Json
    if (typeof id !== 'string') return schema
    if (this.#given.has(id)) return { $ref: `#/components/schemas/${id}` }
    // A schema with defaults differs between input and output, so both become components.
    const differs = id in this.components && !isDeepStrictEqual(this.components[id], schema)
    const name = differs && io === 'input' ? `${id}Input` : id
    this.components[name] ??= schema
    if (!isDeepStrictEqual(this.components[name], schema)) throw new Error(`Two schemas with the id ${name} differ`)
    return { $ref: `#/components/schemas/${name}`, ...(siblings as Json | undefined) }
  }
}

/**
 * Drops what holds for every JSON document: names are texts, and integers are those that JavaScript represents exactly. Base64 is
 * no format of JSON Schema, which has `contentEncoding` for it.
 */
const dropImplied = (json: Json): void => {
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
  if (json.format === json.contentEncoding) delete json.format
  if (isDeepStrictEqual(json.propertyNames, { type: 'string' })) delete json.propertyNames
}

/** Says in words that an absent object is an empty one. Generators for Go stop at such a default. */
const sayEmptyDefault = (json: Json): void => {
  if (!isDeepStrictEqual(json.default, {})) return
  delete json.default
  json.description = [json.description, 'Empty if absent.'].filter(Boolean).join(' ')
  if (!('example' in json || 'examples' in json)) json.examples = [{}]
}

/** Says in words that a flag or a number has one value. openapi-generator writes Java that doesn't compile for such a constant. */
const sayConstant = (json: Json): void => {
  const { const: value } = json
  if (typeof value !== 'boolean' && typeof value !== 'number') return
  delete json.const
  json.description = [json.description, `Always \`${value}\`.`].filter(Boolean).join(' ')
  json.examples ??= [value]
}

const annotate = (json: Json, meta: Json | undefined): void => {
  if (!meta) return
  const shown = Object.fromEntries(Object.entries(meta).filter(([name]) => !NOT_SHOWN.has(name)))
  // A wrapper such as optional() inherits the component's mark. Its own metadata goes next to the reference.
  if (ID in json && json[ID] !== meta.id) json[SIBLINGS] = shown
  else Object.assign(json, shown)
  if (typeof meta.id === 'string') json[ID] = meta.id
}
