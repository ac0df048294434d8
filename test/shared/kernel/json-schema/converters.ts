type Json = Record<string, unknown>

/** Schemas within a schema, by their places. */
const partsOf = (schema: Json, path: string): [Json, string][] => {
  const named = (keyword: string): [Json, string][] =>
    Object.entries((schema[keyword] ?? {}) as Record<string, Json>).map(([name, part]) => [
      part,
      `${path}/${keyword}/${name}`,
    ])
  const one = (keyword: string): [Json, string][] =>
    typeof schema[keyword] === 'object' ? [[schema[keyword] as Json, `${path}/${keyword}`]] : []
  return [
    ...['properties', '$defs', 'anyOf', 'prefixItems'].flatMap(named),
    ...['items', 'additionalProperties'].flatMap(one),
  ]
}

const check = (schema: Json, faults: (part: Json, path: string) => string[], path = ''): string[] => [
  ...faults(schema, path),
  ...partsOf(schema, path).flatMap(([part, at]) => check(part, faults, at)),
]

/** Keywords of the strict form, https://platform.openai.com/docs/guides/structured-outputs#supported-schemas. */
const STRICT = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems'],
  ...['pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'anyOf'],
  ...['$ref', '$defs', 'title', 'description'],
])

/** Keywords that converters leave out, because they only loosen what the model is told. */
const LEFT_OUT = new Set([
  ...['minLength', 'maxLength', 'uniqueItems', 'minProperties', 'maxProperties', 'default', 'examples', 'prefixItems'],
])

/** Formats of the strict form. Any other is an error of the whole request. */
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']

/** Arrays without items are an error of the whole request with OpenAI, strict or not, and with Gemini. */
const withoutItems = (part: Json, path: string): string[] =>
  part.type === 'array' && typeof part.items !== 'object' ? [`${path} has no items`] : []

/** Lists what a converter to the strict form of OpenAI can't translate. Its top is an object, as with Anthropic. */
export const strictOpenAi = (schema: Json): string[] => [
  ...['anyOf', 'oneOf', 'allOf', 'enum', 'not'].filter((keyword) => keyword in schema),
  ...check(schema, (part, path) => [
    ...Object.keys(part)
      .filter((keyword) => !STRICT.has(keyword) && !LEFT_OUT.has(keyword))
      .map((keyword) => `${path}/${keyword}`),
    ...(typeof part.$ref === 'string' && !/^#(\/\$defs\/[A-Za-z0-9_]+)?$/.test(part.$ref) ? [`${path}/$ref`] : []),
    ...(typeof part.pattern === 'string' && part.pattern.includes('(?=') ? [`${path}/pattern`] : []),
    ...(part.format === undefined || FORMATS.includes(part.format as string) ? [] : [`${path}/format`]),
    ...withoutItems(part, path),
  ]),
]

/**
 * Lists what a converter to the Schema of Gemini can't translate: it has one type for each schema, no references to
 * other documents, and names of properties as they are.
 * https://ai.google.dev/api/caching#Schema
 */
export const geminiSubset = (schema: Json): string[] =>
  check(schema, (part, path) => [
    ...(part.type === undefined || typeof part.type === 'string' ? [] : [`${path}/type`]),
    ...(part.type === 'object' && typeof part.properties !== 'object' ? [`${path} has no properties`] : []),
    ...withoutItems(part, path),
    ...['oneOf', 'not', 'if', 'patternProperties', 'propertyNames', 'dependentRequired', 'contains', '$schema']
      .filter((keyword) => keyword in part)
      .map((keyword) => `${path}/${keyword}`),
  ])
