import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NOTICES, noticesOf, packagesOf } from '#infra/bundle/notices.ts'
import { buildCliPackage } from '#ops/cli-package.ts'
import { read, root } from '../docs/markdown.ts'

const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { version: string; dev?: boolean; license?: string }>
}
const dist = join(root, 'dist')
const folders = [
  ...readdirSync(join(dist, 'functions')).map((name) => join('functions', name)),
  ...['console', 'admin', 'developers', 'docs'].map((name) => `${name}-assets`),
]

/** Lists the packages that notices name, as `name version`. */
const namedIn = (text: string): string[] =>
  [...text.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S*) \(.+\)$/gm)].map(([, one = '']) => one)
const noticesIn = (folder: string) => readFileSync(join(folder, NOTICES), 'utf8')

/** Packages that the lock file has for production, as `name version`: those that the SBOM calls shipped. */
const shipped = new Set(
  Object.entries(packages)
    .filter(([, { dev }]) => !dev)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)} ${version}`),
)

describe.each(folders)('the notices of %s', (folder) => {
  const text = noticesIn(join(dist, folder))

  it('have the text of each package’s licence, and name only packages that the SBOM calls shipped', () => {
    expect(text).not.toContain('has no text of its licence')
    expect(namedIn(text).filter((one) => !shipped.has(one))).toEqual([])
  })
})

describe('the notices of browsers’ scripts', () => {
  const served = namedIn(noticesIn(join(dist, 'docs-assets')))

  it('name what Vite has put into each page, at the address to which the pages link', () => {
    for (const page of ['console', 'admin', 'developers']) {
      const bundled = namedIn(noticesIn(join(dist, `${page}-assets`)))
      expect(bundled.length).toBeGreaterThan(0)
      expect(served).toEqual(expect.arrayContaining(bundled))
    }
    expect(read('web/docs/page.html')).toContain('docs/notices.txt')
  })

  it('name direct dependencies, and what those depend on', () => {
    const direct = served.filter((one) => dependencies[one.split(' ')[0] as string] !== undefined)
    expect(direct.length).toBeGreaterThan(3)
  })
})

it('the functions’ notices name what they run on', () => {
  expect(namedIn(noticesIn(join(dist, 'functions', 'api'))).join('\n')).toMatch(/^zod \d/m)
})

it('the CLI’s package contains the notices of what is bundled in it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'))
  await buildCliPackage(folder)
  const named = namedIn(noticesIn(folder))
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((one) => !shipped.has(one))).toEqual([])
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).files).toContain(NOTICES)
})

it('a bundle without packages says so, and one package is named once however many of its modules are bundled', () => {
  expect(noticesOf([])).toContain('no code of third parties')
  const modules = ['index.js', 'lib/a.js'].map((file) => join(root, 'node_modules', 'zod', file))
  expect(packagesOf([...modules, join(root, 'web', 'main.ts'), '\0virtual']).map(({ name }) => name)).toEqual(['zod'])
})
