/** A number as JSON writes it. Anything else, such as hexadecimal or a currency, isn't read. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/

/**
 * Reads a number from a call's arguments. Only what every receiver reads in the same way counts: a name that occurs twice,
 * in whatever case, or another form of number gives undefined.
 * @param field names with dots between them; `query` is the query of `url`
 */
export const readNumber = (args: Record<string, unknown>, field: string): number | undefined => {
  const [first = '', ...rest] = field.split('.')
  const start = first === 'query' && typeof args.url === 'string' ? queryOf(args.url) : entryOf(args, first)
  let value: unknown = start
  for (const name of rest) value = entryOf(opened(value), name)
  if (typeof value === 'string' && NUMBER.test(value)) value = Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

const entryOf = (value: unknown, name: string): unknown => {
  if (typeof value !== 'object' || value === null) return undefined
  const same = Object.entries(value).filter(([key]) => key.toLowerCase() === name.toLowerCase())
  return same.length === 1 ? same[0]?.[1] : undefined
}

/** Returns an object, or the object that a text holds as JSON or as a form. */
const opened = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  return /^\s*[[{]/.test(value) ? parseUnambiguous(value) : formOf(value)
}

/** Parses JSON. Returns undefined if a name occurs twice in an object: receivers differ in which one they take. */
const parseUnambiguous = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    const names = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon).length
    return names === countNames(value) ? value : undefined
  } catch {
    return undefined
  }
}

const countNames = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce((sum: number, one) => sum + countNames(one), 0)
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

const queryOf = (url: string): unknown => formOf(URL.parse(url)?.search.slice(1) ?? '')

const formOf = (text: string): unknown => {
  const names = [...new URLSearchParams(text)]
  const form = Object.fromEntries(names)
  return Object.keys(form).length === names.length ? form : undefined
}
