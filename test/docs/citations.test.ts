import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, FOLDERS, pagesIn, read, root } from './markdown.ts'

/** Pages that code cites, relative to `docs/` as in citations. */
const CITED = ['architecture.md', ...pagesIn('docs/contract').map((path) => path.slice('docs/'.length))]
const anchors = new Map(CITED.map((page) => [page, anchorsOf(join('docs', page))]))

const sources = [
  ...readdirSync(root).filter((file) => /\.(md|ts)$/.test(file) && file !== 'CHANGELOG.md'),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|js|mjs|py|md)$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  ),
].filter((file) => file !== 'test/docs/citations.test.ts')

/** Joins a text into one line, because a citation may span two lines of a comment. */
const flat = (text: string): string => text.replaceAll(/\n\s*(?:\*(?!\/)|\/\/|#)?\s*/g, ' ')

describe('citations', () => {
  it('point to headings of the contract and the architecture', () => {
    const lost = sources.flatMap((file) =>
      [...read(file).matchAll(/\b((?:contract\/[\w-]+|architecture)\.md)(?:#([\w-]+))?/g)]
        .filter(([, page = '', anchor]) => {
          const known = anchors.get(page)
          return !known || (anchor !== undefined && !known.includes(anchor))
        })
        .map(([citation]) => `${file}: ${citation}`),
    )
    expect(lost).toEqual([])
  })

  it.each(CITED)('find exactly one heading for each anchor of %s', (page) => {
    const known = anchors.get(page) ?? []
    expect(known.filter((anchor, i) => known.indexOf(anchor) !== i)).toEqual([])
  })

  it('name no document outside the repository', () => {
    const OLD = /\b(?:decisions|specification|design),? (?:§\d+|["“]\w[^"”\n]*["”])|\bthe specification\b|\(design\)/gi
    const found = sources.flatMap((file) =>
      [...flat(read(file)).matchAll(OLD)].map(([citation]) => `${file}: ${citation}`),
    )
    expect(found).toEqual([])
  })
})
