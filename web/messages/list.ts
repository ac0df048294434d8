import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { findCalls, findUntranslated, keyOf } from './calls.ts'
import { ROOT, SURFACES } from './surfaces.ts'

/** Commit whose texts are printed. Default: the files as they are. */
const [commit] = process.argv.slice(2)

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 100_000_000 })

const committed = commit === undefined ? [] : git('ls-tree', '-r', '--name-only', commit).split('\n')

const find = (patterns: readonly string[]): string[] =>
  commit === undefined
    ? globSync([...patterns], { cwd: ROOT })
    : committed.filter((file) => patterns.some((pattern) => matchesGlob(file, pattern)))

const read = (file: string): string =>
  commit === undefined ? readFileSync(join(ROOT, file), 'utf8') : git('show', `${commit}:${file}`)

const textsIn = (name: string, sources: readonly string[], texts: (code: string, file: string) => string[]): string[] =>
  find(sources).flatMap((file) => texts(read(file), file).map((text) => `${name}: ${JSON.stringify(text)}`))

const lines = [
  ...SURFACES.flatMap(({ name, sources }) =>
    textsIn(name, sources, (code, file) => findCalls(code, file).map((call) => keyOf(call))),
  ),
  // The staff page has no catalogue.
  ...textsIn('staff', ['web/admin/client/**/*.tsx'], (code, file) =>
    findUntranslated(code, file).map(({ text }) => text),
  ),
]
console.log([...new Set(lines)].sort().join('\n'))
