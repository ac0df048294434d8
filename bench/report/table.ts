/** A table of results. Cells are text already; columns whose cells are numbers go to the right. */
export interface Table {
  title: string
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  /** Sentences below it: what was measured how, what a mark means. */
  notes?: readonly string[]
}

const NUMBER = /^[-+–]?[$]?[\d ,.]+( ?(×|%|KB|ms|µs|s))?( [✓✗])?$/

const isNumeric = (rows: Table['rows'], column: number): boolean => {
  const cells = rows.map((row) => row[column] ?? '').filter((cell) => cell !== '' && cell !== '–')
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell))
}

/** For a terminal. */
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

/** GitHub's Markdown. */
export const markdownTable = ({ title, columns, rows, notes = [] }: Table): string => {
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const line = (cells: readonly string[]): string => `| ${columns.map((_, i) => cell(cells[i] ?? '')).join(' | ')} |`
  const rule = `|${columns.map((_, i) => (isNumeric(rows, i) ? ' ---: ' : ' --- ')).join('|')}|`
  return [`### ${title}`, '', line(columns), rule, ...rows.map(line), ...notes.flatMap((note) => ['', note])].join('\n')
}

/** A number with so many decimals; a dash for what could not be measured. */
export const fixed = (value: number, decimals: number): string =>
  Number.isFinite(value) ? value.toFixed(decimals) : '–'
