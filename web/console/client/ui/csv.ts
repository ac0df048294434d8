/** Separators of values, in the order in which they are tried. */
const SEPARATORS = [',', ';', '\t'] as const

/** The separator that occurs most often in the first line. */
const separatorOf = (text: string): string => {
  const [first = ''] = text.split('\n', 1)
  const count = (separator: string): number => first.split(separator).length
  return SEPARATORS.reduce((best, one) => (count(one) > count(best) ? one : best))
}

/**
 * Reads comma-separated values (RFC 4180), also with semicolons or tabs.
 * @param most rows to read
 */
export const parseCsv = (text: string, most: number): string[][] => {
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const endCell = (): void => {
    row.push(cell)
    cell = ''
  }
  const endRow = (): void => {
    endCell()
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  for (let i = 0; i < text.length && rows.length < most; i++) {
    const character = text.charAt(i)
    if (quoted) {
      if (character !== '"') cell += character
      else if (text.charAt(i + 1) === '"') {
        cell += '"'
        i += 1
      } else quoted = false
    } else if (character === '"' && cell === '') quoted = true
    else if (character === separator) endCell()
    else if (character === '\n') endRow()
    else if (character !== '\r') cell += character
  }
  if (rows.length < most && (cell !== '' || row.length > 0)) endRow()
  return rows
}
