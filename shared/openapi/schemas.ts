import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'

export type Json = Record<string, unknown>

/** While a schema is being converted, what is to become a component carries its id, and what stands beside the reference. */
const ID = 'x-component-id'
const BESIDE = 'x-beside'

/** Metadata for other readers than the reference. */
const NOT_SHOWN = new Set(['id', 'fix', 'schemaRef'])

const noMetadata = z.registry<Json>()

/**
 * Turns zod schemas into schemas of the document, those with an `id` into components.
 *
 * Schemas are made at first use, so one component comes as several objects, even within one schema; zod's own conversion
 * (and zod-openapi, which builds on it) refuses that. Here they may, as long as they say the same.
 */
export class Schemas {
  readonly components: Record<string, Json>
  readonly #given: ReadonlySet<string>

  /** @param given components that are made elsewhere; schemas with their ids refer to them */
  constructor(given: Record<string, Json> = {}) {
    this.components = { ...given }
    this.#given = new Set(Object.keys(given))
  }

  /** @param io what a client sends (`input`: what has a default is optional) or gets (`output`) */
  of(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _, ...json } = z.toJSONSchema(schema, {
      io,
      metadata: noMetadata,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // Answers may gain fields (decisions §1 "Deprecation"): a client that checks them must let those pass.
        if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
        annotate(jsonSchema as Json, z.globalRegistry.get(zodSchema) as Json | undefined)
      },
    })
    return this.#extract(json, io) as Json
  }

  /** Replaces marked schemas by references, the inner ones first. */
  #extract(value: unknown, io: 'input' | 'output'): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#extract(one, io))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, one]) => [name, this.#extract(one, io)])
    const { [ID]: id, [BESIDE]: beside, ...schema } = Object.fromEntries(entries) as Json
    if (typeof id !== 'string') return schema
    if (this.#given.has(id)) return { $ref: `#/components/schemas/${id}` }
    // Sent and received forms of one schema differ where it has defaults: then both are kept.
    const differs = id in this.components && !isDeepStrictEqual(this.components[id], schema)
    const name = differs && io === 'input' ? `${id}Input` : id
    this.components[name] ??= schema
    if (!isDeepStrictEqual(this.components[name], schema)) throw new Error(`two schemas with the id ${name} differ`)
    return { $ref: `#/components/schemas/${name}`, ...(beside as Json | undefined) }
  }
}

const annotate = (json: Json, meta: Json | undefined): void => {
  if (!meta) return
  const shown = Object.fromEntries(Object.entries(meta).filter(([name]) => !NOT_SHOWN.has(name)))
  // A wrapper (optional, …) has taken over the component's mark: its words stand beside the reference.
  if (ID in json && json[ID] !== meta.id) json[BESIDE] = shown
  else Object.assign(json, shown)
  if (typeof meta.id === 'string') json[ID] = meta.id
}
