const ASSERTIONS = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'anyOf', 'allOf', '$ref', '$defs'],
  ...['title', 'description', 'default', 'examples'],
])

type Json = Record<string, unknown>

/** Lists what isn't portable about a schema and its parts. */
export const faultsOf = (schema: unknown, path = ''): string[] => {
  if (typeof schema !== 'object' || schema === null) return [`${path} is no object`]
  const { type, properties, items, prefixItems, anyOf, allOf, additionalProperties, $defs, pattern } = schema as Json
  const named = (at: string, parts: unknown) =>
    Object.entries((parts ?? {}) as Json).flatMap(([name, part]) => faultsOf(part, `${path}/${at}/${name}`))
  return [
    ...Object.keys(schema)
      .filter((keyword) => !ASSERTIONS.has(keyword))
      .map((keyword) => `${path}/${keyword}`),
    ...(Array.isArray(type) ? [`${path} has a list of types`] : []),
    ...(type === 'object' && properties === undefined ? [`${path} has no properties`] : []),
    ...(typeof pattern === 'string' && (/\(\?[=!<]|\\[dws/]/i.test(pattern) || !isPattern(pattern))
      ? [`${path}/pattern`]
      : []),
    ...(items === undefined ? [] : faultsOf(items, `${path}/items`)),
    ...(typeof additionalProperties === 'object' ? faultsOf(additionalProperties, `${path}/additionalProperties`) : []),
    ...named('properties', properties),
    ...named('prefixItems', prefixItems),
    ...named('anyOf', anyOf),
    ...named('allOf', allOf),
    ...named('$defs', $defs),
  ]
}
const isPattern = (pattern: string): boolean => Boolean(new RegExp(pattern, 'u'))
