/**
 * JSON Schema keywords that manifests may use, each with the kind of its value. The check, the evaluation, and the
 * published schema, which editors use for completion, derive from this table.
 */
export const KEYWORDS = {
  $schema: 'dialect',
  $id: 'id',
  $comment: 'text',
  $ref: 'reference',
  $defs: 'schemas',
  definitions: 'schemas',
  title: 'text',
  description: 'text',
  default: 'any',
  examples: 'values',
  deprecated: 'flag',
  readOnly: 'flag',
  writeOnly: 'flag',
  type: 'types',
  enum: 'values',
  const: 'any',
  properties: 'schemas',
  patternProperties: 'patterns',
  propertyNames: 'schema',
  required: 'names',
  dependentRequired: 'dependencies',
  dependentSchemas: 'schemas',
  dependencies: 'dependencies',
  additionalProperties: 'schema',
  unevaluatedProperties: 'schema',
  minProperties: 'count',
  maxProperties: 'count',
  items: 'items',
  prefixItems: 'schemaList',
  additionalItems: 'schema',
  unevaluatedItems: 'schema',
  contains: 'schema',
  minContains: 'count',
  maxContains: 'count',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'flag',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'pattern',
  format: 'format',
  contentEncoding: 'unchecked',
  contentMediaType: 'unchecked',
  contentSchema: 'unchecked',
  discriminator: 'unchecked',
  nullable: 'unchecked',
  example: 'unchecked',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  anyOf: 'schemaList',
  oneOf: 'schemaList',
  allOf: 'schemaList',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: `then` is the keyword's name, and nothing awaits this table.
  then: 'schema',
  else: 'schema',
} as const

export type Keyword = keyof typeof KEYWORDS
export type KeywordKind = (typeof KEYWORDS)[Keyword]

export const isKeyword = (name: string): name is Keyword => Object.hasOwn(KEYWORDS, name)

/** Keywords that are not accepted, because references are resolved within one schema by pointers. Each has its fix. */
export const REFUSED_KEYWORDS: Readonly<Record<string, string>> = {
  $anchor: 'Refer to "#/$defs/<name>".',
  $dynamicRef: 'Refer to "#/$defs/<name>" with $ref.',
  $dynamicAnchor: 'Refer to "#/$defs/<name>" with $ref.',
  $recursiveRef: 'Refer to "#" with $ref.',
  $recursiveAnchor: 'Refer to "#" with $ref.',
  $vocabulary: 'Remove it.',
}

/** Hints for the warnings about keywords that are accepted and not evaluated. */
export const UNCHECKED_HINTS: Readonly<Record<string, string>> = {
  nullable: 'null is refused unless type allows it. Use "type": ["string", "null"].',
  example: 'Use examples with a list.',
  discriminator: 'The branches of oneOf or anyOf decide. Give each branch its own const.',
}

export const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const

export const isType = (value: unknown): boolean => (TYPES as readonly unknown[]).includes(value)

/** Formats that are checked. Any other format is only an annotation and gives a warning. */
export const CHECKED_FORMATS = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
] as const

export type Dialect = '2020-12' | '2019-09' | 'draft-07'

const DIALECTS: Readonly<Record<string, Dialect>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'https://json-schema.org/draft/2019-09/schema': '2019-09',
  'http://json-schema.org/draft-07/schema': 'draft-07',
}

/** Keywords that a dialect doesn't have, so they say nothing there. */
const ABSENT: Readonly<Record<Dialect, readonly string[]>> = {
  '2020-12': ['additionalItems'],
  '2019-09': ['prefixItems'],
  'draft-07': [
    'prefixItems',
    'minContains',
    'maxContains',
    'dependentRequired',
    'dependentSchemas',
    'unevaluatedItems',
    'unevaluatedProperties',
  ],
}

/** Returns the dialect of the URI in `$schema`, or undefined if it isn't accepted. */
export const dialectOfUri = (uri: unknown): Dialect | undefined => {
  const address = typeof uri === 'string' ? uri.replace(/#$/, '') : ''
  return Object.hasOwn(DIALECTS, address) ? DIALECTS[address] : undefined
}

/** Returns the dialect of a schema: the one it names, else 2020-12, which the Model Context Protocol assumes. */
export const dialectOf = ({ $schema }: Readonly<Record<string, unknown>>): Dialect => dialectOfUri($schema) ?? '2020-12'

/** Tells whether a keyword of a schema says anything in its dialect. In draft-07, `$ref` silences its siblings. */
export const saysSomething = (dialect: Dialect, schema: Readonly<Record<string, unknown>>, keyword: string): boolean =>
  !ABSENT[dialect].includes(keyword) && !(dialect === 'draft-07' && schema.$ref !== undefined && keyword !== '$ref')
