/**
 * JSON Schema keywords (draft 2020-12) that manifests may use, each with the kind of its value. The check and the
 * published schema, which editors use for completion, both derive from this table.
 */
export const KEYWORDS = {
  $schema: 'dialect',
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
  required: 'names',
  additionalProperties: 'schema',
  minProperties: 'count',
  maxProperties: 'count',
  items: 'schema',
  prefixItems: 'schemaList',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'flag',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'pattern',
  format: 'format',
  contentEncoding: 'text',
  contentMediaType: 'text',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  anyOf: 'schemaList',
  oneOf: 'schemaList',
  allOf: 'schemaList',
  not: 'schema',
} as const

export type Keyword = keyof typeof KEYWORDS
export type KeywordKind = (typeof KEYWORDS)[Keyword]

export const isKeyword = (name: string): name is Keyword => Object.hasOwn(KEYWORDS, name)

/** Standard keywords that are not accepted, each with its fix. */
export const REFUSED_KEYWORDS: Readonly<Record<string, string>> = {
  $id: 'Remove it. A schema in a manifest is self-contained.',
  $anchor: 'Refer to "#/$defs/<name>".',
  $dynamicRef: 'Refer to "#/$defs/<name>" with $ref.',
  $dynamicAnchor: 'Refer to "#/$defs/<name>" with $ref.',
  $recursiveRef: 'Refer to "#/$defs/<name>" with $ref.',
  $recursiveAnchor: 'Refer to "#/$defs/<name>" with $ref.',
  $vocabulary: 'Remove it.',
  patternProperties: 'Name the properties, or use additionalProperties with a schema.',
  propertyNames: 'Name the properties, or use additionalProperties with a schema.',
  if: 'Use anyOf with one schema for each case.',
  // biome-ignore lint/suspicious/noThenProperty: `then` is the keyword's name, and nothing awaits this table.
  then: 'Use anyOf with one schema for each case.',
  else: 'Use anyOf with one schema for each case.',
  dependentRequired: 'Use anyOf with one schema for each case.',
  dependentSchemas: 'Use anyOf with one schema for each case.',
  dependencies: 'Use anyOf with one schema for each case.',
  contains: 'Describe every element with items.',
  minContains: 'Describe every element with items.',
  maxContains: 'Describe every element with items.',
  additionalItems: 'Use prefixItems and items.',
  unevaluatedItems: 'Use items.',
  unevaluatedProperties: 'Use additionalProperties.',
  contentSchema: 'Describe the content in description.',
  nullable: 'Use "type": ["string", "null"].',
  example: 'Use examples with a list.',
}

export const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const

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

/** Formats whose check a hostile value can make slow, each with its fix. */
export const REFUSED_FORMATS: Readonly<Record<string, string>> = {
  url: 'Use "format": "uri".',
  regex: 'Remove the format.',
  'uri-template': 'Remove the format.',
  'json-pointer': 'Remove the format.',
  'json-pointer-uri-fragment': 'Remove the format.',
  'relative-json-pointer': 'Remove the format.',
}

const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/draft/2019-09/schema',
  'http://json-schema.org/draft-07/schema',
  'http://json-schema.org/draft-07/schema#',
]

export const isDialect = (value: unknown): boolean => typeof value === 'string' && DIALECTS.includes(value)
