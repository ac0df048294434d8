import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** What each part of the house may import; everything not listed is refused. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'shared/kernel': ['shared/kernel'],
  'shared/table': ['shared/kernel', 'shared/table'],
  'shared/entities': ['shared/kernel', 'shared/table', 'shared/entities'],
  'shared/events': ['shared/kernel', 'shared/table', 'shared/entities', 'shared/events'],
  'shared/domain': ['shared/kernel', 'shared/table', 'shared/entities', 'shared/events', 'shared/domain'],
  'shared/adapters': ['shared/kernel', 'shared/entities', 'shared/events', 'shared/domain', 'shared/adapters'],
  'shared/http': [
    'shared/kernel',
    'shared/table',
    'shared/entities',
    'shared/events',
    'shared/domain',
    'shared/adapters',
    'shared/http',
  ],
  'shared/openapi': [
    'shared/kernel',
    'shared/entities',
    'shared/events',
    'shared/domain',
    'shared/http',
    'shared/openapi',
    'functions/registry.ts',
    'web',
  ],
  functions: [
    'shared/kernel',
    'shared/table',
    'shared/entities',
    'shared/events',
    'shared/domain',
    'shared/http',
    'web',
  ],
  infra: ['shared', 'functions/registry.ts', 'infra'],
  local: ['shared', 'infra', 'local'],
  examples: ['shared/kernel/signatures.ts', 'examples'],
  // Its own Node runs it, offline too: the rules that need no platform, and the check of addresses that they ask for.
  cli: ['shared/kernel', 'shared/domain/manifests', 'shared/adapters/outgoing-http/check-only.ts', 'cli'],
  web: ['web'],
}

const filesUnder = (folder: string): string[] => {
  try {
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  } catch {
    return []
  }
}

/** Static and dynamic imports of a file: project paths, or package names as they are. */
const importsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier = '']) => {
    if (specifier.startsWith('#')) return specifier.slice(1)
    if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(file), specifier))
    return `package:${specifier}`
  })
}

const within = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(`${place}/`))

describe('the house keeps its import rules', () => {
  for (const [part, allowed] of Object.entries(MAY_IMPORT)) {
    it(`${part} imports only what lies below it`, () => {
      const wrong = filesUnder(part).flatMap((file) =>
        importsOf(file)
          .filter((to) => !to.startsWith('package:') && !within(to, [...allowed]))
          // A function's own folder is its own; another function's never is.
          .filter((to) => !(part === 'functions' && to.split('/')[1] === file.split('/')[1]))
          .filter((to) => !(file === 'functions/registry.ts' && /^functions\/[\w-]+\/(endpoints|worker)\.ts$/.test(to)))
          .map((to) => `${file} → ${to}`),
      )
      expect(wrong).toEqual([])
    })
  }

  it('lib-dynamodb is imported by the table layer only', () => {
    const importers = ['shared', 'functions', 'infra']
      .flatMap(filesUnder)
      .filter((file) => importsOf(file).includes('package:@aws-sdk/lib-dynamodb'))
      .filter((file) => !within(file, ['shared/table']))
    expect(importers).toEqual([])
  })

  it('no module of shared or functions reads the environment while it is imported', () => {
    const readers = ['shared', 'functions']
      .flatMap(filesUnder)
      .filter((file) => !within(file, ['shared/http/compose.ts', 'shared/http/serve-waiting.ts', 'shared/openapi']))
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'))
    expect(readers).toEqual([])
  })

  it('nothing scans the table', () => {
    const scanning = ['shared', 'functions']
      .flatMap(filesUnder)
      .filter((file) => /ScanCommand|paginateScan|dynamodb:Scan/.test(readFileSync(join(root, file), 'utf8')))
    expect(scanning).toEqual([])
  })
})
