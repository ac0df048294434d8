import { isObject, type JsonObject } from './json-object.ts'
import { isKeyword, KEYWORDS } from './keywords.ts'

/** Applies `change` to every direct subschema of a schema. Other values stay as they are. */
const mapMembers = (schema: JsonObject, change: (member: unknown) => unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      const kind = isKeyword(keyword) ? KEYWORDS[keyword] : undefined
      if (kind === 'schema' || (kind === 'items' && !Array.isArray(value))) return [keyword, change(value)]
      if ((kind === 'schemaList' || kind === 'items') && Array.isArray(value)) return [keyword, value.map(change)]
      if ((kind === 'schemas' || kind === 'patterns' || kind === 'dependencies') && isObject(value))
        return [
          keyword,
          Object.fromEntries(
            Object.entries(value).map(([name, member]) => [name, Array.isArray(member) ? member : change(member)]),
          ),
        ]
      return [keyword, value]
    }),
  )

/** Writes a list in `items`, which older dialects have, as `prefixItems` and `items` of 2020-12. */
export const withTuple = ({ items, additionalItems, ...rest }: JsonObject): JsonObject =>
  Array.isArray(items)
    ? { ...rest, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
    : { ...rest, ...(items !== undefined && { items }) }

/** The same for a schema and all its parts. */
export const withTuples = (schema: unknown): unknown =>
  isObject(schema) ? withTuple(mapMembers(schema, withTuples)) : schema
