const ASSERTIONS = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'anyOf', '$ref', '$defs'],
  ...['title', 'description', 'default', 'examples'],
])

type Json = Record<string, unknown>

/** Lists what isn't portable about a tool's schema and its parts. */
export const toolFaultsOf = (schema: Json): string[] => [
  ...(schema.type === 'object' ? [] : ['the top isn’t an object']),
  ...['anyOf', '$ref', 'enum', 'const']
    .filter((keyword) => keyword in schema)
    .map((keyword) => `${keyword} at the top`),
  ...Object.keys((schema.properties ?? {}) as Json)
    .filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    .map((name) => `the name ${name} at the top`),
  ...faultsOf(schema),
]

const isTyped = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && ('type' in schema || '$ref' in schema)

/** Lists what isn't portable about a schema and its parts. */
const faultsOf = (schema: unknown, path = ''): string[] => {
  if (typeof schema !== 'object' || schema === null) return [`${path} is no object`]
  const { type, properties, items, prefixItems, anyOf, additionalProperties, $defs, pattern } = schema as Json
  const values = [(schema as Json).enum ?? [], (schema as Json).const ?? []].flat()
  const named = (at: string, parts: unknown) =>
    Object.entries((parts ?? {}) as Json).flatMap(([name, part]) => faultsOf(part, `${path}/${at}/${name}`))
  return [
    ...Object.keys(schema)
      .filter((keyword) => !ASSERTIONS.has(keyword))
      .map((keyword) => `${path}/${keyword}`),
    ...(Array.isArray(type) ? [`${path} has a list of types`] : []),
    ...(type === 'object' && properties === undefined ? [`${path} has no properties`] : []),
    ...['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
      .filter((bound) => type === 'integer' && bound in schema && !Number.isInteger((schema as Json)[bound]))
      .map((bound) => `${path}/${bound} isn’t whole`),
    ...(type === 'array' && items === undefined ? [`${path} has no items`] : []),
    ...(values.some((value) => typeof value === 'object' && value !== null)
      ? [`${path} has a value that isn’t plain`]
      : []),
    ...Object.entries((properties ?? {}) as Json)
      .filter(([, part]) => !isTyped(part) && !Array.isArray((part as Json).anyOf))
      .map(([name]) => `${path}/properties/${name} has no type`),
    ...(Array.isArray(anyOf) && (anyOf.length < 2 || !anyOf.every(isTyped) || type !== undefined)
      ? [`${path}/anyOf isn’t a flat list of types`]
      : []),
    ...(typeof pattern === 'string' && (/\(\?[=!<]|\\[dws/]/i.test(pattern) || !isPattern(pattern))
      ? [`${path}/pattern`]
      : []),
    ...(items === undefined ? [] : faultsOf(items, `${path}/items`)),
    ...(typeof additionalProperties === 'object' ? faultsOf(additionalProperties, `${path}/additionalProperties`) : []),
    ...named('properties', properties),
    ...named('prefixItems', prefixItems),
    ...named('anyOf', anyOf),
    ...named('$defs', $defs),
  ]
}
const isPattern = (pattern: string): boolean => Boolean(new RegExp(pattern, 'u'))
