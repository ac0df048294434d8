import * as z from 'zod'

/**
 * Returns the JSON Schema of a tool's arguments as models are given it, in the portable form that tools of developers
 * are given in, too. Used only when the bundles are built.
 */
export const inputSchemaOf = (input: z.ZodType): Record<string, unknown> => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // Records have this even if any name will do.
      delete jsonSchema.propertyNames
      if (jsonSchema.type === 'object') jsonSchema.properties ??= {}
      const { example } = jsonSchema as { example?: string }
      if (example !== undefined) jsonSchema.examples = [example]
      delete (jsonSchema as { example?: unknown }).example
    },
  })
  return schema
}
