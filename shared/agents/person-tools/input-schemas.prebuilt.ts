import { inputSchemaOf } from '../tools/json-schema.ts'
import { PERSON_TOOLS } from './catalogue.ts'

/** Input schemas of a person's tools as JSON Schema, computed when the bundles are built. */
export const PERSON_INPUT_SCHEMAS = Object.fromEntries(
  Object.entries(PERSON_TOOLS).map(([name, { input }]) => [name, inputSchemaOf(input())]),
) as unknown as Record<keyof typeof PERSON_TOOLS, Record<string, unknown>>
