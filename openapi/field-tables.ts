import type { Json } from './schemas.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  oneOf?: Schema[]
  anyOf?: Schema[]
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
}

/** One field of a table: its path, type, and what it is for. */
export type FieldRow = [path: string, type: string, description: string]

const quoted = (value: unknown): string => `\`${JSON.stringify(value)}\``

/** Leaves out null as a choice, which `typeOf` names instead. */
const choicesOf = (schema: Schema): Schema[] =>
  (schema.oneOf ?? schema.anyOf ?? []).filter(({ type }) => type !== 'null')

const typeOf = (schema: Schema): string => {
  const choices = schema.oneOf ?? schema.anyOf ?? []
  const nullable = choices.some(({ type }) => type === 'null') ? ' or null' : ''
  if (schema.const !== undefined) return quoted(schema.const)
  if (schema.enum) return schema.enum.map(quoted).join(', ')
  const [only, ...more] = choicesOf(schema)
  if (only) return more.length === 0 ? `${typeOf(only)}${nullable}` : `object${nullable}`
  if (schema.$ref) return schema.$ref.endsWith('/scope') ? 'string' : 'JSON Schema'
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'values'}`
  return [schema.type ?? 'any value'].flat().join(' or ')
}

const limitsOf = ({ maxLength, minimum, maximum, maxItems, default: standard }: Schema): string[] => [
  ...(maxLength === undefined ? [] : [`Up to ${maxLength.toLocaleString('en')} characters.`]),
  ...(maxItems === undefined ? [] : [`Up to ${maxItems}.`]),
  ...(minimum === undefined || maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
    ? []
    : [`From ${minimum} to ${maximum}.`]),
  ...(standard === undefined ? [] : [`Default: ${quoted(standard)}.`]),
]

const constantOf = (choice: Schema): string | undefined =>
  Object.entries(choice.properties ?? {}).flatMap(([name, { const: value }]) =>
    typeof value === 'string' ? [`${name} ${value}`] : [],
  )[0]

/**
 * Lists every field of an object's JSON Schema, with those of objects within it. Fields of one choice of several name the
 * choice.
 * @param mark which fields are marked: those that a sender must send, or those that a receiver may not get
 */
export const fieldRows = (given: Json, mark: 'required' | 'optional'): FieldRow[] =>
  rows(given as Schema, { prefix: '', choice: '', mark })

interface Place {
  prefix: string
  choice: string
  mark: 'required' | 'optional'
}

const MARKS = { required: '**Required.**', optional: '*Not always present.*' }

const rows = (schema: Schema, place: Place): FieldRow[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const { prefix, choice, mark } = place
    const path = `${prefix}${name}`
    const isRequired = schema.required?.includes(name) ?? false
    const about = [
      ...(choice === '' ? [] : [`With \`${choice}\`:`]),
      ...(isRequired === (mark === 'required') ? [MARKS[mark]] : []),
      field.description ?? field.title ?? '',
      ...limitsOf(field),
    ]
    return [[`\`${path}\``, typeOf(field), about.filter(Boolean).join(' ')] as FieldRow, ...within(field, path, place)]
  })

const within = (field: Schema, path: string, place: Place): FieldRow[] => {
  if (field.items) return within(field.items, `${path}[]`, place)
  const choices = choicesOf(field)
  const below = { ...place, prefix: `${path}.` }
  if (choices.length === 0) return rows(field, below)
  return choices.flatMap((one) => rows(one, choices.length > 1 ? { ...below, choice: constantOf(one) ?? '' } : below))
}
