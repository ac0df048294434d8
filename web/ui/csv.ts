/** Text that spreadsheets take for a formula, also behind blanks and invisible characters, as in exports of the admins. */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u

/** Quotes a text. It can't become a formula, nor end at a NUL. Numbers stay as they are. */
const cell = (value: string | number | null | undefined): string => {
  if (typeof value !== 'string') return String(value ?? '')
  const whole = value.replaceAll('\0', '')
  return `"${(FORMULA.test(whole) ? `'${whole}` : whole).replaceAll('"', '""')}"`
}

/** Formats rows as CSV (RFC 4180). */
export const csvOf = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  rows.map((row) => row.map(cell).join(',')).join('\r\n')
