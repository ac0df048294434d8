/**
 * Comma-separated values (RFC 4180): CRLF between records, texts in quotation marks, quotation marks doubled.
 */

export type Cell = string | number | boolean | null | undefined

/**
 * What a spreadsheet takes for the beginning of a formula, in its full-width forms too (OWASP, "CSV Injection"), also behind blanks
 * and characters that nobody sees, which some leave out. A text that begins so gets an apostrophe before it, which spreadsheets take
 * for “this is text”.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u

const cell = (value: Cell): string => {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  // Many readers end a text at a NUL, and would lose the quotation mark behind it.
  const whole = value.replaceAll('\0', '')
  const text = FORMULA.test(whole) ? `'${whole}` : whole
  return `"${text.replaceAll('"', '""')}"`
}

/** One record with its line end. Numbers and booleans stand as they are: they are never a customer’s words. */
export const record = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`
