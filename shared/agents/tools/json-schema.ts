import * as z from 'zod'

/** Metadata of schemas, without their names in the OpenAPI document, which would become references. */
const NAMELESS = {
  get: (schema: z.core.$ZodType) => {
    const { id: _, ...meta } = z.globalRegistry.get(schema) ?? {}
    return meta
  },
} as typeof z.globalRegistry

/**
 * Returns the JSON Schema of a tool's arguments as models are given it, in the portable form that tools of developers
 * are given in, too. Used only when the bundles are built.
 */
export const inputSchemaOf = (input: z.ZodType): Record<string, unknown> => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    metadata: NAMELESS,
    override: ({ jsonSchema }) => {
      // Records have this even if any name will do.
      delete jsonSchema.propertyNames
      // The format says the same, and not every client reads such a pattern.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      if (jsonSchema.type === 'object') jsonSchema.properties ??= {}
      const { example } = jsonSchema as { example?: string }
      if (example !== undefined) jsonSchema.examples = [example]
      delete (jsonSchema as { example?: unknown }).example
    },
  })
  return schema
}
