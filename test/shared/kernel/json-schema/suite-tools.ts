import { readFileSync } from 'node:fs'
import { withinBounds } from '#shared/kernel/json-schema/bounds.ts'
import { checkSchema, newCheck } from '#shared/kernel/json-schema/check-schema.ts'

type Json = Record<string, unknown>

/** Files of the JSON Schema Test Suite, with the dialect of each. */
export const DIALECTS = {
  draft7: 'http://json-schema.org/draft-07/schema#',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

/** A copy of a schema whose references are to the same parts below `property`. */
const below = (property: string, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((member) => below(property, member))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      key === '$ref' && typeof member === 'string' && member.startsWith('#')
        ? [key, `#/properties/${property}${member.slice(1)}`]
        : [key, below(property, member)],
    ),
  )
}

/** A schema as a tool's whole schema, and as that of a property. */
const asToolsTake = ({ $schema: _, ...schema }: Json, $schema: string) => [
  { whole: { $schema, ...schema, type: 'object' }, given: (value: unknown) => value },
  {
    whole: { $schema, type: 'object', properties: { x: below('x', schema) } },
    given: (value: unknown) => ({ x: value }),
  },
]

const isAccepted = (whole: Json): boolean => {
  const check = newCheck()
  checkSchema(check, whole, '')
  const { list } = withinBounds(whole, { depth: 64, nodes: 20_000, characters: 1_000_000 })
  return check.errors.list.length === 0 && list.length === 0
}

/** Makes schemas of tools from those of the JSON Schema Test Suite that a manifest may have, each with the suite's values. */
export const suiteTools = (name: string, $schema: string) => {
  const file = new URL(`../../../vectors/json-schema-test-suite/${name}.json`, import.meta.url)
  const groups = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Json[]>)
  return groups.flatMap(([at, list]) =>
    list
      .filter(({ schema }) => typeof schema === 'object')
      .flatMap(({ description, schema, tests }) =>
        asToolsTake(schema as Json, $schema)
          .filter(({ whole }) => isAccepted(whole))
          .map(({ whole, given }) => ({
            title: `${at}: ${description}`,
            whole,
            values: (tests as { data: unknown }[]).map(({ data }) => given(data)),
          })),
      ),
  )
}
