import { describe, expect, it } from 'vitest'
import { verdict } from '#bench/bundles.ts'
import { withResults } from '#bench/report/document.ts'
import { markdownTable, plainTable, type Table } from '#bench/report/table.ts'

const table: Table = {
  title: 'Sizes',
  columns: ['name', 'KB'],
  rows: [
    ['a|b', '7'],
    ['long name', '1234'],
  ],
  notes: ['Measured.'],
}

describe('a table', () => {
  it('aligns its numbers right in a terminal', () => {
    expect(plainTable(table).split('\n').slice(1, 7)).toEqual([
      'Sizes',
      '',
      'name         KB',
      '─────────  ────',
      'a|b           7',
      'long name  1234',
    ])
  })

  it('separates its columns in Markdown', () => {
    expect(markdownTable(table)).toContain('| --- | ---: |\n| a\\|b | 7 |')
  })
})

describe('the document', () => {
  it('replaces a part’s earlier results and keeps the rest', () => {
    const document = '# P\n\nWords.\n\n<!-- bench:x -->\nold\n<!-- /bench:x -->\n\nMore words.\n'
    const once = withResults(document, 'x', [table], 'a machine')
    expect(once).not.toContain('old')
    expect(once).toContain('_a machine_')
    expect(once).toMatch(/^# P\n\nWords\.\n\n<!-- bench:x -->[\s\S]*<!-- \/bench:x -->\n\nMore words\.\n$/)
    expect(withResults(once, 'x', [table], 'a machine')).toBe(once)
    expect(withResults(once, 'x', [table])).not.toContain('machine')
  })

  it('appends a part that is new', () => {
    expect(withResults('# P\n', 'y', [], 'a machine')).toBe(
      '# P\n\n<!-- bench:y -->\n\n_a machine_\n\n<!-- /bench:y -->\n',
    )
  })
})

it('a limit that is not kept stands out', () => {
  expect([350, 380, 401].map((kb) => verdict(kb, 350, 400))).toEqual(['aim kept', 'limit kept', 'OVER'])
})
