/** Comma-separated values (RFC 4180): CRLF between records, text in quotation marks, quotation marks doubled. */

export type Cell = string | number | boolean | null | undefined

/**
 * Matches text that spreadsheets treat as a formula, including full-width forms (OWASP, "CSV Injection"). Leading
 * blanks and invisible characters are included, because some readers drop them. Such text gets a leading apostrophe,
 * which marks it as text.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u

const cell = (value: Cell): string => {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  // Many readers end a text at a NUL and would lose the closing quotation mark.
  const whole = value.replaceAll('\0', '')
  const text = FORMULA.test(whole) ? `'${whole}` : whole
  return `"${text.replaceAll('"', '""')}"`
}

/**
 * Formats one record with its line ending. Numbers and booleans aren't quoted, because they never contain customer
 * text.
 */
export const csvRecord = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`
