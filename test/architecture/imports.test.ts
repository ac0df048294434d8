import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Bounded contexts, lowest first. Each may import those before it, through the index of a noun, and none after it. */
const CONTEXTS = [
  'foundation',
  'staff',
  'identity',
  'catalogue',
  'access',
  'marketplace',
  'work',
  'agents',
  'messaging',
  'insight',
  'moderation',
  'delivery',
  'lifecycle',
]

const CONTEXT_FOLDERS = CONTEXTS.map((context) => `shared/${context}`)

/** Imports that each part of the repository is allowed; all others are refused. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'shared/kernel': ['shared/kernel'],
  'shared/table': ['shared/kernel', 'shared/table'],
  'shared/adapters': ['shared/kernel', 'shared/adapters'],
  ...Object.fromEntries(
    CONTEXT_FOLDERS.map((folder, i) => [folder, ['shared/kernel', 'shared/table', ...CONTEXT_FOLDERS.slice(0, i + 1)]]),
  ),
  'shared/entities.ts': ['shared/table', ...CONTEXT_FOLDERS],
  // The last context deletes what the others created, for every entity.
  'shared/lifecycle': ['shared/kernel', 'shared/table', 'shared/entities.ts', ...CONTEXT_FOLDERS],
  'shared/http': ['shared/kernel', 'shared/table', 'shared/adapters', ...CONTEXT_FOLDERS, 'shared/http'],
  openapi: ['shared/kernel', ...CONTEXT_FOLDERS, 'shared/http', 'openapi', 'functions/registry.ts', 'web'],
  functions: ['shared/kernel', 'shared/table', ...CONTEXT_FOLDERS, 'shared/http', 'web'],
  infra: ['shared', 'openapi', 'functions/registry.ts', 'functions/units.ts', 'web', 'infra'],
  // A proof says what it costs before it begins.
  ops: ['shared', 'infra', 'ops', 'bench/idle.ts', 'bench/prices.ts'],
  local: ['shared', 'functions/units.ts', 'infra', 'ops', 'local'],
  testkit: ['shared', 'functions', 'infra', 'ops', 'openapi', 'local', 'cli', 'web', 'testkit'],
  bench: [
    ...['shared', 'functions', 'infra', 'openapi', 'local', 'examples', 'testkit', 'bench'],
    ...['ops/command.ts', 'ops/cli-package.ts', 'ops/sdk-package.ts', 'cli/project/templates.ts'],
  ],
  examples: ['shared/kernel/signatures.ts', 'ops/command.ts', 'examples'],
  // Runs on the user's own Node, also offline: it takes only the rules that need no platform, and their address check.
  cli: [
    'shared/kernel',
    'shared/catalogue/manifests',
    'shared/work/receipts',
    'shared/adapters/outgoing-http/check-only.ts',
    'cli',
  ],
  web: ['web'],
  // Published, so they stand on their own.
  packages: ['packages'],
}

const SOURCE_FOLDERS = [
  ...new Set(Object.keys(MAY_IMPORT).map((part) => part.split('/')[0] as string)),
  'test',
  'bench',
]

const filesUnder = (folder: string): string[] =>
  folder.endsWith('.ts')
    ? [folder]
    : existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
          .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      : []

/** Static and dynamic imports of a file: project paths, or package names prefixed with `package:`. */
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

const contextOf = (path: string): string | undefined => CONTEXT_FOLDERS.find((folder) => within(path, [folder]))

/** `shared/<context>/<noun>` for a file of a context, its folder for any other. */
const folderOf = (file: string): string =>
  contextOf(file) === undefined ? dirname(file) : file.split('/').slice(0, 3).join('/')

/** Groups of nodes that reach one another: Tarjan's strongly connected components with more than one member. */
const cyclesIn = (graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] => {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node) as number)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      else if (!stack.includes(next)) continue
      low.set(node, Math.min(low.get(node) as number, low.get(next) as number))
    }
    if (low.get(node) !== index.get(node)) return
    const members = stack.splice(stack.indexOf(node))
    if (members.length > 1) cycles.push(members.sort())
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return cycles
}

const graphOf = (files: readonly string[], name: (file: string) => string): Map<string, Set<string>> => {
  const graph = new Map<string, Set<string>>()
  for (const file of files) {
    const from = name(file)
    const targets = graph.get(from) ?? new Set()
    graph.set(from, targets)
    for (const to of importsOf(file)) if (files.includes(to) && name(to) !== from) targets.add(name(to))
  }
  return graph
}

describe('the repository keeps its import rules', () => {
  for (const [part, allowed] of Object.entries(MAY_IMPORT)) {
    it(`${part} imports only from layers below it`, () => {
      const wrong = filesUnder(part).flatMap((file) =>
        importsOf(file)
          .filter((to) => !to.startsWith('package:') && !within(to, [...allowed]))
          // A group may import from its own folder, but not from another group's.
          .filter((to) => !(part === 'functions' && to.split('/')[1] === file.split('/')[1]))
          .filter((to) => !(file === 'functions/registry.ts' && to === 'functions/units.ts'))
          .map((to) => `${file} → ${to}`),
      )
      expect(wrong).toEqual([])
    })
  }

  it('a context is imported only through the index of one of its nouns', () => {
    const wrong = SOURCE_FOLDERS.filter((folder) => !['test', 'testkit', 'bench'].includes(folder))
      .flatMap(filesUnder)
      .flatMap((file) =>
        importsOf(file)
          .filter((to) => contextOf(to) !== undefined && contextOf(to) !== contextOf(file))
          .filter(() => file !== 'shared/entities.ts')
          .filter((to) => !/^shared\/[\w-]+\/[\w-]+\/index\.ts$/.test(to))
          .map((to) => `${file} → ${to}`),
      )
    expect(wrong).toEqual([])
  })

  it('everything in shared is a layer, a context or the list of entities', () => {
    const known = ['entities.ts', 'kernel', 'table', 'adapters', 'http', ...CONTEXTS]
    expect(readdirSync(join(root, 'shared')).filter((name) => !known.includes(name))).toEqual([])
  })

  it('no file imports itself through other files', () => {
    expect(cyclesIn(graphOf(SOURCE_FOLDERS.flatMap(filesUnder), (file) => file))).toEqual([])
  })

  it('no noun of a context imports itself through other nouns', () => {
    const files = CONTEXT_FOLDERS.flatMap(filesUnder)
    expect(cyclesIn(graphOf(files, folderOf))).toEqual([])
  })

  it('only the table layer imports lib-dynamodb', () => {
    const importers = ['shared', 'functions', 'infra']
      .flatMap(filesUnder)
      .filter((file) => importsOf(file).includes('package:@aws-sdk/lib-dynamodb'))
      .filter((file) => !within(file, ['shared/table']))
    expect(importers).toEqual([])
  })

  it('no module of shared or functions reads the environment at import time', () => {
    const readers = ['shared', 'functions']
      .flatMap(filesUnder)
      .filter((file) => !within(file, ['shared/http/compose.ts', 'shared/http/serve.ts']))
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
