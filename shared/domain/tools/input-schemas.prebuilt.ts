import * as z from 'zod'
import { TOOLS } from './catalogue.ts'

/** The tools' arguments as JSON Schema. Plain data, computed when the bundles are built: the generator stays out of them. */
export const INPUT_SCHEMAS = Object.fromEntries(
  Object.entries(TOOLS).map(([name, { input }]) => [name, z.toJSONSchema(input(), { io: 'input' })]),
) as unknown as Record<keyof typeof TOOLS, Record<string, unknown>>
