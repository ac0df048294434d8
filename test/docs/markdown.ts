import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lexer } from 'marked'

export const root = join(import.meta.dirname, '../..')

export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Lists the Markdown files of a folder, as paths from the root. */
export const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))

/** Top-level folders with sources, without generated or installed ones. */
export const FOLDERS = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .map(({ name }) => name)
  .filter((name) => !['node_modules', 'dist', 'cdk.out', 'test-results', 'coverage'].includes(name))

/** Lists the anchors of a page's headings, as GitHub generates them. */
export const anchorsOf = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** Lists the tables of a page as their lines, without the one below the head. */
export const tablesOf = (path: string): string[][] =>
  lexer(read(path)).flatMap((token) => {
    if (token.type !== 'table') return []
    const [head = '', , ...rows] = token.raw.trim().split('\n')
    return [[head, ...rows]]
  })
