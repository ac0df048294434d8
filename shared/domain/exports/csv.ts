/**
 * Comma-separated values (RFC 4180): CRLF between records, texts in quotation marks, quotation marks doubled.
 */

export type Cell = string | number | boolean | null | undefined

/**
 * What a spreadsheet takes for the beginning of a formula, in its full-width forms too (OWASP, "CSV Injection"). A text that
 * begins so gets an apostrophe before it, which spreadsheets take for “this is text”.
 */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

const cell = (value: Cell): string => {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}

/** One record with its line end. Numbers and booleans stand as they are: they are never a customer’s words. */
export const record = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`
