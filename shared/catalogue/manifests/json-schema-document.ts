import * as z from 'zod'
import {
  CHECKED_FORMATS,
  KEYWORDS,
  type Keyword,
  type KeywordKind,
  REFUSED_KEYWORDS,
  TYPES,
} from '#shared/kernel/json-schema/keywords.ts'
import { MAX_PATTERN_LENGTH } from '#shared/kernel/json-schema/pattern.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'
import { CONFIG_KEYWORDS, SETTING_KEYWORDS, SETTING_TYPES } from './config.ts'
import { manifestSchema } from './schema.ts'

type Json = Record<string, unknown>

const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` })

/** Schema of the value of each kind of keyword. */
const VALUES: Record<KeywordKind, Json> = {
  any: {},
  text: { type: 'string' },
  flag: { type: 'boolean' },
  number: { type: 'number' },
  positive: { type: 'number', exclusiveMinimum: 0 },
  count: { type: 'integer', minimum: 0 },
  values: { type: 'array', items: {}, minItems: 1 },
  names: { type: 'array', items: { type: 'string' }, uniqueItems: true },
  types: {
    anyOf: [{ enum: TYPES }, { type: 'array', items: { enum: TYPES }, minItems: 1, uniqueItems: true }],
  },
  unchecked: { description: 'An annotation, which the platform doesn’t check.' },
  id: { type: 'string', maxLength: 2_048 },
  dialect: { type: 'string', examples: ['https://json-schema.org/draft/2020-12/schema'] },
  pattern: {
    type: 'string',
    maxLength: MAX_PATTERN_LENGTH,
    description: 'Regular expression without unbounded backtracking.',
  },
  format: { type: 'string', examples: CHECKED_FORMATS },
  reference: { type: 'string', pattern: '^#(/.*)?$' },
  schema: ref('schema'),
  schemas: { type: 'object', additionalProperties: ref('schema') },
  patterns: { type: 'object', additionalProperties: ref('schema') },
  schemaList: { type: 'array', items: ref('schema'), minItems: 1, maxItems: 20 },
  items: { anyOf: [ref('schema'), { type: 'array', items: ref('schema'), minItems: 1, maxItems: 20 }] },
  dependencies: {
    type: 'object',
    additionalProperties: { anyOf: [ref('schema'), { type: 'array', items: { type: 'string' }, uniqueItems: true }] },
  },
}

const keywords = (names: readonly Keyword[]): Json =>
  Object.fromEntries(names.map((name) => [name, VALUES[KEYWORDS[name]]]))

const ANNOTATIONS = { '^x-': {} }

/** Named schemas that the manifest's declaration refers to: the accepted part of JSON Schema, settings and scopes. */
const DEFINITIONS: Json = {
  schema: {
    title: 'JSON Schema',
    description: 'JSON Schema of draft 2020-12, or of the draft that `$schema` names (2019-09 or draft-07).',
    anyOf: [
      { type: 'boolean' },
      {
        type: 'object',
        properties: {
          ...keywords(Object.keys(KEYWORDS) as Keyword[]),
          ...Object.fromEntries(Object.keys(REFUSED_KEYWORDS).map((keyword) => [keyword, { not: {} }])),
        },
      },
    ],
  },
  inputSchema: {
    allOf: [ref('schema')],
    type: 'object',
    properties: { type: { const: 'object' }, $ref: VALUES.reference },
    anyOf: [{ required: ['type'] }, { required: ['$ref'] }],
    examples: [{ type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] }],
  },
  setting: {
    title: 'Setting',
    description: 'One field of the settings form.',
    type: 'object',
    properties: {
      ...keywords(SETTING_KEYWORDS),
      type: { enum: SETTING_TYPES },
      writeOnly: { type: 'boolean', description: 'Marks a secret, which is stored encrypted and never shown again.' },
    },
    required: ['type'],
    patternProperties: ANNOTATIONS,
    additionalProperties: false,
  },
  config: {
    type: 'object',
    properties: {
      ...keywords(CONFIG_KEYWORDS),
      type: { const: 'object' },
      properties: { type: 'object', additionalProperties: ref('setting'), maxProperties: 50 },
      additionalProperties: { type: 'boolean', enum: [false] },
    },
    required: ['type'],
    patternProperties: ANNOTATIONS,
    additionalProperties: false,
  },
  scope: { anyOf: Object.entries(SCOPES).map(([scope, [description]]) => ({ const: scope, description })) },
}

/**
 * Returns the manifest's JSON Schema (draft 2020-12) with titles, descriptions and examples for completion in editors.
 * Served at `/schemas/manifest.json`. Derives from the declaration that the validator uses.
 *
 * @param baseUrl the platform's address without a trailing slash
 */
export const manifestJsonSchema = (baseUrl: string): Json => {
  const address = `${baseUrl}/schemas/manifest.json`
  const { $schema, ...schema } = z.toJSONSchema(manifestSchema(), {
    io: 'input',
    override: ({ jsonSchema }) => {
      const { schemaRef } = jsonSchema as { schemaRef?: string }
      if (schemaRef !== undefined) {
        for (const key of ['type', 'propertyNames', 'additionalProperties', 'maxLength'])
          delete (jsonSchema as Json)[key]
        jsonSchema.$ref = `#/$defs/${schemaRef}`
      }
      for (const key of ['fix', 'schemaRef']) delete (jsonSchema as Json)[key]
    },
  })
  const properties: Json = { ...schema.properties }
  properties.$schema = { ...(properties.$schema as Json), examples: [address] }
  return { $schema, $id: address, ...schema, properties, $defs: DEFINITIONS }
}
