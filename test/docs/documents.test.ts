import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { listSettings } from '#infra/settings/list.ts'
import { anchorsOf, FOLDERS, pagesIn, read, root, tablesOf } from './markdown.ts'

const pages = [...pagesIn('.'), ...pagesIn('docs'), ...pagesIn('docs/contract'), 'events/README.md']
const everyPage = [...pages, ...pagesIn('docs/guides')]

const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts
const settings = new Map(listSettings().map((setting) => [setting.name, setting]))

/** Lists the files and folders of the repository that a text names, in prose and in commands. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(String.raw`(?<![\w./@<>$-])(?:${FOLDERS.join('|')})/[\w./-]*(?![\w*{<…])`, 'g'))].map(
    ([path]) => path.replace(/[./]+$/, ''),
  )

/** Tests may be named without their common parts: `functions/api/runs` is test/functions/api/runs.test.ts. */
const isThere = (path: string) => existsSync(join(root, path)) || existsSync(join(root, 'test', `${path}.test.ts`))

describe.each(pages)('%s', (page) => {
  it('links to files and headings that exist', () => {
    for (const [, link = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? page : join(dirname(page), file)
      expect(existsSync(join(root, target)), link).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(target), link).toContain(anchor)
    }
  })

  it('names files and folders that exist', () => {
    expect(pathsIn(read(page)).filter((path) => !isThere(path))).toEqual([])
  })
})

it.each(everyPage)('the rows of each table of %s have the cells of its head, so that no reader loses one', (page) => {
  for (const [head, ...rows] of tablesOf(page))
    for (const row of rows) expect(cellsIn(row), row).toBe(cellsIn(head as string))
})

/** Counts the cells of a row. A bar in code divides cells as well, unless it is escaped (GitHub's Markdown, "Tables"). */
const cellsIn = (row: string) =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/).length

it.each(pagesIn('docs/contract'))('%s names only endpoints that exist, in full or below their interface', (page) => {
  const named = [...read(page).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^\s`?*]*)[\s`?]/g)]
  const unknown = named.filter(([, method, path = '']) =>
    ENDPOINTS.every((one) => one.method !== method || !anyVariable(one.path).endsWith(anyVariable(path))),
  )
  expect(unknown.map(([text]) => text)).toEqual([])
})

const ENDPOINTS = Object.values(requestFunctions).flat()
const anyVariable = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')

describe.each(everyPage)('the commands of %s', (page) => {
  const commands = [...read(page).matchAll(/npm run (?:-s |--silent )?([a-z][\w:-]*)((?: -- [^`\n#|;&]*)?)/g)]

  it('are scripts of package.json, with options that exist', () => {
    for (const [command, name = '', given = ''] of commands) {
      expect(scripts, command).toHaveProperty([name])
      const [, source] = /^node (\S+)$/.exec(scripts[name] ?? '') ?? []
      for (const [, option = ''] of given.matchAll(/ --([a-z][\w-]*)/g))
        if (source && option !== 'help') expect(read(source), command).toContain(option)
    }
  })

  it('set only existing settings', () => {
    for (const [, name = ''] of read(page).matchAll(/ -c '?(\w+)=/g))
      expect([...settings.keys(), 'stage', 'prefix'], name).toContain(name)
  })
})

it('the settings to know in the README have the defaults that docs/deploy.md lists', () => {
  const rows = read('README.md')
    .split('\n')
    .filter((line) => /^\| `\w+`/.test(line))
    .map((line) => line.split(' | '))
  expect(rows.length).toBeGreaterThan(5)
  for (const [names = '', , shown = ''] of rows) {
    const defaults = [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => settings.get(name)?.default)
    expect(defaults, names).not.toContain(undefined)
    expect([...new Set(defaults)], names).toEqual(shown.split(', ').map((value) => value.replaceAll('`', '')))
  }
})

describe('docs/architecture.md', () => {
  const rowsBelow = (head: RegExp) =>
    tablesOf('docs/architecture.md')
      .filter(([first = '']) => head.test(first))
      .flatMap(([, ...rows]) => rows.map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, ''))))

  it('lists every noun of every context', () => {
    const listed = rowsBelow(/ context /).map(([, name = '', , nouns = '']) => {
      const [, context = ''] = /`(\w+)`/.exec(name) ?? []
      return [context, nouns.split(', ').sort()]
    })
    const contexts = listed.map(([context]) => context as string)
    expect(contexts.length).toBeGreaterThan(10)
    const foldersOf = (context: string) =>
      readdirSync(join(root, 'shared', context), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort()
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(contexts.map((name) => [name, foldersOf(name)])))
  })

  it('names as choices only libraries that package.json has', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'))
    const known = Object.keys({ ...dependencies, ...devDependencies }).map((name) => name.toLowerCase())
    const chosen = rowsBelow(/ part \| choice /).map(
      ([part = '', choice = '']) => [part, choice.toLowerCase()] as const,
    )
    for (const [part, choice] of chosen)
      for (const [library = ''] of choice.matchAll(LIBRARIES))
        expect(
          known.some((name) => name.split('/').some((one) => one.replace('@', '') === library) || name === library),
          `${part}: ${library}`,
        ).toBe(true)
  })
})

/** Names of libraries in the table of choices. The second cell of a row says what is used. */
const LIBRARIES =
  /\b(?:middy|jose|rolldown|esbuild|undici|hono|zod(?:-openapi)?|biome|playwright-core|cdk-nag|vite)\b|@[\w-]+\/[\w-]+/g
