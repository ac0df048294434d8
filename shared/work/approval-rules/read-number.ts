import { parseWritten, repeatsName, type Written } from './written-json.ts'

/** Reasons that a number isn't read (contract/runs.md#amounts). */
export const UNREAD = ['missing', 'content_type', 'method', 'malformed', 'ambiguous', 'not_a_number'] as const

export type Unread = (typeof UNREAD)[number]

/** A number that every receiver reads, or the reason that there is none. */
export type Reading = { value: number; unread?: undefined } | { value?: undefined; unread: Unread }

type Fields = Extract<Written, { kind: 'object' }>

/**
 * Reads a number from the request that a call sends. Only a value that every receiver reads alike counts: web frameworks
 * differ in the names that they take for the same, in the parts of a request that they merge, and in how they parse what
 * its content type doesn't announce.
 * @param field place and names with dots between them: `body.payment.amount`, `query.amount` or `headers.x-amount`
 */
export const readNumber = (args: Record<string, unknown>, field: string): Reading => {
  const [place, ...names] = field.split('.')
  const [first = '', ...rest] = names
  switch (place) {
    case 'headers':
      return numberAt(headersOf(args), [first.toLowerCase(), ...rest])
    case 'query':
      return clash(bodyOf(args), first) ?? numberAt(queryOf(args), names)
    case 'body':
      return clash(queryOf(args), first) ?? (hasBody(args) ? numberAt(bodyOf(args), names) : { unread: 'missing' })
    default:
      return { unread: 'missing' }
  }
}

/** Returns why a name in one part of a request leaves the same name in the other one unread. Frameworks merge the two. */
const clash = (other: Written | Unread, name: string): Reading | undefined => {
  if (typeof other === 'string') return { unread: other }
  return other.kind === 'object' && other.entries.some((entry) => isAlike(entry.name, name))
    ? { unread: 'ambiguous' }
    : undefined
}

/** A plain decimal number of at most 15 digits before the point. Parsers differ in exponents, leading zeros and signs. */
const NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/

const numberAt = (start: Written | Unread, names: readonly string[]): Reading => {
  let value = start
  for (const name of names) {
    if (typeof value === 'string') return { unread: value }
    value = entryOf(value, name)
  }
  if (typeof value === 'string') return { unread: value }
  if (value.kind === 'object' || value.kind === 'list' || !NUMBER.test(value.text)) return { unread: 'not_a_number' }
  return { value: Number(value.text) }
}

const entryOf = (value: Written, name: string): Written | Unread => {
  if (value.kind !== 'object') return 'missing'
  const [only, ...others] = value.entries.filter((entry) => isAlike(entry.name, name))
  if (!only) return 'missing'
  return others.length === 0 && only.name === name ? only.value : 'ambiguous'
}

/**
 * Reports whether some receiver takes a name for the wanted one. PHP turns dots and spaces into underscores, Rails and qs
 * drop brackets, Go ignores the case as Unicode folds it, and gateways turn hyphens of a header into underscores.
 */
const isAlike = (given: string, wanted: string): boolean =>
  folded(given) === folded(wanted) || folded(firstPart(given)) === folded(wanted)

/** Returns a name's letters and digits, without their case and width. */
const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Returns the part of `amount[0]`, `[amount]` or `amount.value` that parsers of nested names put first. */
const firstPart = (name: string): string => name.split(/[[\].]/).find((part) => folded(part) !== '') ?? ''

/** Names of amounts of money, the most telling first. */
const AMOUNTS = ['amount', 'total', 'price', 'sum']

/** An amount that a call names: the number as it is written, and the currency if the call has one next to it. */
export interface Amount {
  field: string
  value: number
  currency?: string | undefined
}

/**
 * Finds an amount in the request that a call sends, for lists in which people look for what is large. It follows the same rules as
 * {@link readNumber}, so a number that receivers may read differently isn't shown.
 */
export const findAmount = (args: Record<string, unknown>): Amount | undefined => {
  for (const place of ['body', 'query'])
    for (const name of AMOUNTS) {
      const { value } = readNumber(args, `${place}.${name}`)
      if (value !== undefined)
        return { field: name, value, currency: currencyIn(place === 'body' ? bodyOf(args) : queryOf(args)) }
    }
  return undefined
}

/** Returns an ISO 4217 code. */
const currencyIn = (fields: Written | Unread): string | undefined => {
  if (typeof fields === 'string') return undefined
  const currency = entryOf(fields, 'currency')
  return typeof currency !== 'string' && currency.kind === 'text' && /^[A-Za-z]{3}$/.test(currency.text)
    ? currency.text.toUpperCase()
    : undefined
}

const textEntries = (entries: readonly (readonly [name: string, value: string])[]): Fields => ({
  kind: 'object',
  entries: entries.map(([name, text]) => ({ name, value: { kind: 'text', text } })),
})

const headersOf = ({ headers = {} }: Record<string, unknown>): Fields =>
  textEntries(Object.entries(headers as Record<string, string>).map(([name, value]) => [name.toLowerCase(), value]))

const queryOf = ({ url }: Record<string, unknown>): Fields | Unread => {
  const address = URL.parse(String(url))
  return address ? formOf(address.search.slice(1)) : 'malformed'
}

const hasBody = ({ body }: Record<string, unknown>): boolean => typeof body === 'string' && body !== ''

const JSON_TYPE = /^application\/json[\t ]*(;[\t ]*charset=("utf-8"|utf-8))?$/i
const FORM_TYPE = /^application\/x-www-form-urlencoded[\t ]*(;[\t ]*charset=("utf-8"|utf-8))?$/i

/** Methods whose body every framework reads (RFC 9110 §9.3). */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Returns the body by its content type; an object without entries if there is no body. */
const bodyOf = (args: Record<string, unknown>): Written | Unread => {
  const { body, method = 'GET' } = args
  if (!hasBody(args)) return textEntries([])
  if (!WITH_BODY.has(String(method))) return 'method'
  const { entries } = headersOf(args)
  const values = (name: string): string[] =>
    entries.flatMap((entry) => (isAlike(entry.name, name) && entry.value.kind === 'text' ? [entry.value.text] : []))
  const [type = '', ...others] = values('content-type')
  if (others.length > 0 || values('content-encoding').length > 0) return 'content_type'
  if (FORM_TYPE.test(type)) return formOf(String(body))
  if (!JSON_TYPE.test(type)) return 'content_type'
  const json = parseWritten(String(body))
  return json ? (repeatsName(json) ? 'ambiguous' : json) : 'malformed'
}

/** Most fields of a form. Frameworks drop or refuse further ones, from a thousand on. */
const MOST_FIELDS = 500

/** Characters that end or split a field for some parsers, and never occur unescaped in what browsers send. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not occur
const NOT_IN_FORM = /[;\u0000-\u001f\u007f]/

/** Parses a form or a query. Text that is also JSON is refused: some receivers never look at the content type. */
const formOf = (text: string): Fields | Unread => {
  if (text === '') return textEntries([])
  if (/^\s*[[{"]/.test(text)) return 'ambiguous'
  if (NOT_IN_FORM.test(text)) return 'malformed'
  const fields = text.split('&')
  if (fields.length > MOST_FIELDS) return 'malformed'
  try {
    const entries = fields
      .filter((field) => field !== '')
      .map((field) => {
        const [name = '', ...value] = field.replaceAll('+', ' ').split('=')
        return [decodeURIComponent(name), decodeURIComponent(value.join('='))] as const
      })
    // Some parsers end a name at such a character.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not occur
    return entries.some(([name]) => /[\u0000-\u001f\u007f]/.test(name)) ? 'malformed' : textEntries(entries)
  } catch {
    return 'malformed'
  }
}
