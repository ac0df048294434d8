import { TOOLS } from './catalogue.ts'
import { inputSchemaOf } from './json-schema.ts'

/** Input schemas of all tools as JSON Schema. Computed when the bundles are built, so that they don't include the generator. */
export const INPUT_SCHEMAS = Object.fromEntries(
  Object.entries(TOOLS).map(([name, { input }]) => [name, inputSchemaOf(input())]),
) as unknown as Record<keyof typeof TOOLS, Record<string, unknown>>
