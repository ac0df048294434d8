import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { markdownTable, type Table } from './table.ts'

const begin = (part: string): string => `<!-- bench:${part} -->`
const end = (part: string): string => `<!-- /bench:${part} -->`

/**
 * Replaces a part's tables in the document. Text around the two marks is kept, and a part without marks is added at the end.
 * @param machine on which they were measured; absent for numbers that are the same everywhere
 */
export const withResults = (document: string, part: string, tables: readonly Table[], machine?: string): string => {
  const measuredOn = machine === undefined ? [] : [`_${machine}_`]
  const block = [begin(part), ...measuredOn, ...tables.map(markdownTable), end(part)].join('\n\n')
  const from = document.indexOf(begin(part))
  const to = document.indexOf(end(part))
  if (from < 0 || to < from) return `${document.trimEnd()}\n\n${block}\n`
  return document.slice(0, from) + block + document.slice(to + end(part).length)
}

/** Writes a part's tables into a Markdown file. */
export const writeResults = async (
  file: string,
  part: string,
  tables: readonly Table[],
  machine?: string,
): Promise<void> => {
  const document = await readFile(file, 'utf8').catch(() => '# Performance\n')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, withResults(document, part, tables, machine))
}
