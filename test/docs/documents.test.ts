import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listSettings } from '#infra/settings/list.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))
const pages = [...pagesIn('.'), ...pagesIn('docs'), 'events/README.md']
const everyPage = [...pages, ...pagesIn('docs/guides')]

const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts
const settings = new Map(listSettings().map((setting) => [setting.name, setting]))

/** The addresses of a page's headings, as GitHub makes them. */
const anchorsOf = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

const FOLDERS = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .map(({ name }) => name)
  .filter((name) => !['node_modules', 'dist', 'cdk.out', 'test-results', 'coverage'].includes(name))

/** Files and folders of the repository that a text names, in its prose and in its commands. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(String.raw`(?<![\w./@<>$-])(?:${FOLDERS.join('|')})/[\w./-]*(?![\w*{<…])`, 'g'))].map(
    ([path]) => path.replace(/[./]+$/, ''),
  )

/** A test is also named without what every test has: `functions/api/runs` is test/functions/api/runs.test.ts. */
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

describe.each(everyPage)('the commands of %s', (page) => {
  const commands = [...read(page).matchAll(/npm run (?:-s |--silent )?([a-z][\w:-]*)((?: -- [^`\n#|;&]*)?)/g)]

  it('are scripts of package.json, with options that they know', () => {
    for (const [command, name = '', given = ''] of commands) {
      expect(scripts, command).toHaveProperty([name])
      const [, source] = /^node (\S+)$/.exec(scripts[name] ?? '') ?? []
      for (const [, option = ''] of given.matchAll(/ --([a-z][\w-]*)/g))
        if (source && option !== 'help') expect(read(source), command).toContain(option)
    }
  })

  it('set what is a setting', () => {
    for (const [, name = ''] of read(page).matchAll(/ -c '?(\w+)=/g))
      expect([...settings.keys(), 'stage', 'prefix'], name).toContain(name)
  })
})

it('the settings to know, in the README, have the defaults that docs/deploy.md tells', () => {
  const rows = read('README.md')
    .split('\n')
    .filter((line) => /^\| `\w+`/.test(line))
    .map((line) => line.split(' | '))
  expect(rows.length).toBeGreaterThan(5)
  for (const [names = '', shown = ''] of rows) {
    const told = [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => settings.get(name)?.default)
    expect(told, names).not.toContain(undefined)
    expect([...new Set(told)], names).toEqual(shown.split(', ').map((value) => value.replaceAll('`', '')))
  }
})
