import * as z from 'zod'
import { CHECKED_FORMATS, KEYWORDS, type Keyword, type KeywordKind, TYPES } from '../../kernel/json-schema/keywords.ts'
import { SCOPES } from '../../kernel/scopes.ts'
import { CONFIG_KEYWORDS, SETTING_KEYWORDS, SETTING_TYPES } from './config.ts'
import { manifestSchema } from './schema.ts'

type Json = Record<string, unknown>

const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` })

/** For each kind of keyword, the schema of its value. */
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
  dialect: { type: 'string', examples: ['https://json-schema.org/draft/2020-12/schema'] },
  pattern: { type: 'string', maxLength: 400, description: 'A regular expression that cannot backtrack without bound.' },
  format: { type: 'string', examples: CHECKED_FORMATS },
  reference: { type: 'string', pattern: '^#/(\\$defs|definitions)/[^/]+$' },
  schema: ref('schema'),
  schemas: { type: 'object', additionalProperties: ref('schema') },
  schemaList: { type: 'array', items: ref('schema'), minItems: 1, maxItems: 20 },
}

const keywords = (names: readonly Keyword[]): Json =>
  Object.fromEntries(names.map((name) => [name, VALUES[KEYWORDS[name]]]))

const OWN_NOTES = { '^x-': true }

/** What the manifest's declaration refers to by name: the accepted part of JSON Schema, the settings form, the scopes. */
const DEFINITIONS: Json = {
  schema: {
    title: 'JSON Schema',
    description: 'The part of JSON Schema (draft 2020-12) that manifests may use.',
    anyOf: [
      { type: 'boolean' },
      {
        type: 'object',
        properties: keywords(Object.keys(KEYWORDS) as Keyword[]),
        patternProperties: OWN_NOTES,
        additionalProperties: false,
      },
    ],
  },
  inputSchema: {
    allOf: [ref('schema')],
    type: 'object',
    properties: { type: { const: 'object' } },
    required: ['type'],
    examples: [{ type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] }],
  },
  setting: {
    title: 'Setting',
    description: 'One field of the settings form.',
    type: 'object',
    properties: {
      ...keywords(SETTING_KEYWORDS),
      type: { enum: SETTING_TYPES },
      writeOnly: { type: 'boolean', description: 'A secret: stored encrypted, never shown again.' },
    },
    required: ['type'],
    patternProperties: OWN_NOTES,
    additionalProperties: false,
  },
  config: {
    type: 'object',
    properties: {
      ...keywords(CONFIG_KEYWORDS),
      type: { const: 'object' },
      properties: { type: 'object', additionalProperties: ref('setting'), maxProperties: 50 },
      additionalProperties: { const: false },
    },
    required: ['type'],
    patternProperties: OWN_NOTES,
    additionalProperties: false,
  },
  scope: { anyOf: Object.entries(SCOPES).map(([scope, [description]]) => ({ const: scope, description })) },
}

/**
 * The manifest as a JSON Schema (draft 2020-12), with titles, descriptions and examples so that editors complete it.
 * Served at `/schemas/manifest.json`; derived from the one declaration that the validator uses.
 *
 * @param baseUrl the platform's address without a trailing slash
 */
export const manifestJsonSchema = (baseUrl: string): Json => {
  const address = `${baseUrl}/schemas/manifest.json`
  const { $schema, ...schema } = z.toJSONSchema(manifestSchema, {
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
