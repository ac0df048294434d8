/** Table of results. Cells are text. Columns of numbers are aligned to the right. */
export interface Table {
  title: string
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  /** Notes below the table. */
  notes?: readonly string[]
  /** Document that shows the table, if it isn't the page about performance. */
  document?: 'results' | 'scale'
}

const NUMBER = /^[-+–]?[$]?[\d ,.]+( ?(×|%|KB|ms|µs|s))?( [✓✗])?$/

const isNumeric = (rows: Table['rows'], column: number): boolean => {
  const cells = rows.map((row) => row[column] ?? '').filter((cell) => cell !== '' && cell !== '–')
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell))
}

/** Formats a table for a terminal. */
export const plainTable = ({ title, columns, rows, notes = [] }: Table): string => {
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const right = columns.map((_, i) => isNumeric(rows, i))
  const line = (cells: readonly string[]): string =>
    columns
      .map((_, i) => (right[i] ? (cells[i] ?? '').padStart(widths[i] ?? 0) : (cells[i] ?? '').padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  return ['', title, '', line(columns), rule, ...rows.map(line), ...notes.map((note) => `\n${note}`), ''].join('\n')
}

/** Formats a table as GitHub Markdown. */
export const markdownTable = ({ title, columns, rows, notes = [] }: Table): string => {
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const line = (cells: readonly string[]): string => `| ${columns.map((_, i) => cell(cells[i] ?? '')).join(' | ')} |`
  const rule = `|${columns.map((_, i) => (isNumeric(rows, i) ? ' ---: ' : ' --- ')).join('|')}|`
  return [`### ${title}`, '', line(columns), rule, ...rows.map(line), ...notes.flatMap((note) => ['', note])].join('\n')
}

/** Formats a number with the given decimals, or a dash if it couldn't be measured. */
export const fixed = (value: number, decimals: number): string =>
  Number.isFinite(value) ? value.toFixed(decimals) : '–'
