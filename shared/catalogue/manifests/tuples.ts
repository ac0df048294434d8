import { isObject } from '#shared/kernel/json-schema/json-object.ts'
import { withTuples } from '#shared/kernel/json-schema/members.ts'

/** A schema that names no dialect is of 2020-12, which has no lists in `items`. */
const current = (schema: unknown): unknown =>
  isObject(schema) && schema.$schema === undefined ? withTuples(schema) : schema

/** Returns a valid manifest whose tools' schemas are valid in the dialect that they name. */
export const withCurrentTuples = (manifest: unknown): unknown => {
  if (!isObject(manifest) || !Array.isArray(manifest.tools)) return manifest
  const tools = manifest.tools.map((tool) => ({
    ...tool,
    input_schema: current(tool.input_schema),
    ...('output_schema' in tool && { output_schema: current(tool.output_schema) }),
  }))
  return { ...manifest, tools }
}
