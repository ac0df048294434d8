import { isDeepStrictEqual } from 'node:util'
import type { Json } from './schemas.ts'

/**
 * Returns the components with every nested object and enum as a component of its own, named by its path: `RunAgent` for
 * `Run.agent`. Generators name inline schemas by themselves, and number those that share a property's name.
 * @throws if a name is taken by another schema, or no constant tells variants apart. Give one of them an `id`.
 */
export const withNamedSchemas = (components: Readonly<Record<string, Json>>): Record<string, Json> => {
  const all: Record<string, Json> = { ...components }

  const named = (name: string, schema: Json): Json => {
    const inner = within(name, schema)
    if (!isNameable(schema)) return inner
    all[name] ??= inner
    if (!isDeepStrictEqual(all[name], inner)) throw new Error(`Two schemas with the name ${name} differ`)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** Names the schemas inside a schema. */
  const within = (name: string, schema: Json): Json =>
    Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => {
        if (keyword === 'properties') return [keyword, eachProperty(name, value as Record<string, unknown>)]
        if (keyword === 'items') return [keyword, ifSchema(`${name}Item`, value)]
        if (keyword === 'additionalProperties') return [keyword, ifSchema(`${name}Value`, value)]
        if (Array.isArray(value) && UNIONS.has(keyword)) return [keyword, eachVariant(name, value as Json[])]
        return [keyword, value]
      }),
    )

  const ifSchema = (name: string, value: unknown): unknown => (isSchema(value) ? named(name, value) : value)

  const eachProperty = (name: string, properties: Record<string, unknown>): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([property, schema]) => [property, ifSchema(name + pascal(property), schema)]),
    )

  const eachVariant = (name: string, variants: Json[]): Json[] => {
    const several = variants.filter(isNameable).length > 1
    // The only object of a component's union can't have the component's own name.
    const only = name in components ? `${name}Object` : name
    return variants.map((variant) => {
      if (!several || !isNameable(variant)) return named(only, variant)
      const constant = constantOf(variant)
      if (constant === undefined) throw new Error(`Two variants of ${name} have no constant. Give them an id`)
      return named(name + constant, variant)
    })
  }

  for (const [name, schema] of Object.entries(components)) all[name] = within(name, schema)
  return all
}

const UNIONS: ReadonlySet<string> = new Set(['oneOf', 'anyOf'])

const isSchema = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Generators make a class of an object with known properties, and of an enum with several values. */
const isNameable = ({ properties, enum: values }: Json): boolean =>
  (isSchema(properties) && Object.keys(properties).length > 0) || (Array.isArray(values) && values.length > 1)

/** Converts a name to a component's: `RunSucceeded` for `run.succeeded`. */
export const pascal = (name: string): string =>
  name
    .split(/[^a-z0-9]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Returns the value that tells a variant from the others, such as `Rejected` for `{status: 'rejected'}`. */
const constantOf = ({ properties }: Json): string | undefined => {
  for (const schema of Object.values((properties ?? {}) as Record<string, Json>)) {
    const value = schema.const ?? (Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined)
    if (typeof value === 'string') return pascal(value)
  }
  return undefined
}
