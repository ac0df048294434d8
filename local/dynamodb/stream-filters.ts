type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Texts that every JSON writer writes in the same way. Searching for them is faster than reading JSON. */
const isPlain = (value: unknown): value is string => typeof value === 'string' && /^[\w.-]+$/.test(value)

const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? 'TRUE' : `(${conditions.join(' OR ')})`
const allOf = (conditions: readonly string[]): string => (conditions.length === 0 ? 'TRUE' : conditions.join(' AND '))

const SCALARS = new Set(['S', 'N', 'B', 'BOOL', 'NULL'])

/**
 * Returns the condition on an attribute's value in a record's new image. A filter also looks into lists, and doesn't tell a dot in a
 * name from a level. So only scalars of attributes with plain names are looked for.
 */
const leafCondition = (path: readonly string[], tests: readonly unknown[]): string => {
  const [name, type = '', ...deeper] = path
  if (deeper.length > 0 || !isPlain(name) || name.includes('.') || !SCALARS.has(type)) return 'TRUE'
  const place = quoted(['$', ...path.map((name) => JSON.stringify(name))].join('.'))
  const conditions = tests.map((test) => {
    if (isPlain(test))
      return `(instr(new_image, ${quoted(`"${test}"`)}) > 0 AND json_extract(new_image, ${place}) = ${quoted(test)})`
    if (isObject(test) && Object.keys(test).join() === 'exists')
      return `json_type(new_image, ${place}) IS ${test.exists === true ? 'NOT NULL' : 'NULL'}`
    return 'TRUE'
  })
  return anyOf(conditions)
}

const imageCondition = (pattern: Json, path: readonly string[] = []): string =>
  allOf(
    Object.entries(pattern).map(([name, test]) => {
      if (Array.isArray(test)) return leafCondition([...path, name], test)
      return isObject(test) ? imageCondition(test, [...path, name]) : 'TRUE'
    }),
  )

const conditionOf = (filter: unknown): string => {
  if (!isObject(filter)) return 'TRUE'
  const { eventName, dynamodb } = filter
  const isNamed = Array.isArray(eventName) && eventName.length > 0 && eventName.every(isPlain)
  const image = isObject(dynamodb) && isObject(dynamodb.NewImage) ? dynamodb.NewImage : {}
  return allOf([...(isNamed ? [`event_name IN (${eventName.map(quoted).join(', ')})`] : []), imageCondition(image)])
}

/**
 * Returns an SQL condition that holds for each of dynoxide's stream records that passes one of a mapping's filters. It may hold for
 * others, too: it knows only the operators that the template uses.
 */
export const filterCondition = (filters: readonly unknown[]): string => anyOf(filters.map(conditionOf))
