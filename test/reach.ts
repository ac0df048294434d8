import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A test file that reaches a source. */
export interface Reached {
  file: string
  /** Steps from the test to the source: imports, or calls of its endpoints. */
  steps: number
  /** Duration of its last run in milliseconds. */
  duration: number
}

/** Guesses the duration of a test that has never run. */
const guessMs = (source = ''): number => source.length / 5

/** Steps to a source beyond which nearly every test reaches it. */
const MOST_STEPS = 3

/** Folders that tests of all subjects import, so that an import of them doesn't show what a test is about. */
const SHARED_BY_TESTS = /^(testkit|bench|infra|local|openapi|ops)\//

/** Path prefixes that tests of a group of endpoints leave to a helper. */
const PREFIXES = /^\/(api\/v1\/dev|api\/v1|console\/messenger|console|admin|oauth|connect)(?=\/)/

const IMPORT = /^(?:import|export)(?! type\b)[^'"]*?from '([^']+)'|\bimport\('([^']+)'\)/gm

/** Lists the sources of the repository, with those that aren't committed yet. */
const listSources = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx'], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)

const resolve = (from: string, specifier: string): string | undefined => {
  if (specifier.startsWith('#')) return specifier.slice(1)
  return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(from), specifier) : undefined
}

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the durations of the last runs, as Vitest keeps them. */
const readDurations = (): Map<string, number> => {
  const kept = globSync('node_modules/.vite/vitest/*/results.json').flatMap((file) => {
    const { projects = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
      projects?: Record<string, { files: Record<string, { duration: number }> }>
    }
    return Object.values(projects).flatMap(({ files }) => Object.entries(files))
  })
  return new Map(kept.map(([file, { duration }]) => [file, duration]))
}

/** Lists the paths of the endpoints that a module declares. */
const endpointPaths = (file: string, source: string): string[] =>
  /^functions\/(?!workers\/)[^/]+\/[^/]+\.ts$/.test(file)
    ? [...source.matchAll(/^ +path: '(\/[^']*)'/gm)].map(([, found = '']) => found)
    : []

const SHORTEST = 2

/**
 * Matches calls of a path in a test's source, whatever stands for its variables. Tests of a group may leave its prefix to a helper;
 * others only where the rest is clear enough.
 */
const callsOf = (endpoint: string, isOfGroup: boolean): RegExp => {
  const short = endpoint.replace(PREFIXES, '')
  const isClear = isOfGroup || short.split('/').length > SHORTEST
  const escaped = (isClear ? [endpoint, short] : [endpoint]).map((text) =>
    text
      .split(/\{\w+\}/)
      .map((part) => part.replaceAll(/[.+?^$()[\]\\|]/g, '\\$&'))
      .join('(?:\\$\\{[^}]*\\}|[^/\'"`?\\s]+)'),
  )
  return new RegExp(`['"\`}](?:${escaped.join('|')})['"\`?]`)
}

/** Ranks a test by its place: tests of a folder or module have its name (CONTRIBUTING.md, "The house"). */
const rankOf = (target: string, { file, steps }: Reached): number => {
  const { dir, name } = path.parse(target)
  if (file.startsWith(`test/${dir}/${name}`)) return 0
  return file.startsWith(`test/${dir}/`) ? steps - 0.5 : steps
}

/** Lists the tests that reach a source, the nearest first. A test reaches itself. */
export const testsThatReach = (target: string): Reached[] => {
  const sources = new Map(listSources().map((file) => [file, readOr(file)]))
  const importers = new Map<string, Set<string>>()
  for (const [file, source] of sources) {
    for (const [, one, other] of source.matchAll(IMPORT)) {
      const imported = resolve(file, one ?? other ?? '')
      if (imported === undefined) continue
      const known = importers.get(imported) ?? new Set()
      importers.set(imported, known.add(file))
    }
  }
  const tests = [...sources.keys()].filter((file) => file.endsWith('.test.ts'))
  /** Tests that call an endpoint reach its module in one step, although the registry loads it. */
  const callers = (file: string): string[] => {
    const endpoints = endpointPaths(file, sources.get(file) ?? '')
    if (endpoints.length === 0) return []
    const [near, far] = [true, false].map((isOfGroup) => endpoints.map((one) => callsOf(one, isOfGroup)))
    const ofGroup = `test/${path.dirname(file)}/`
    return tests.filter((test) =>
      (test.startsWith(ofGroup) ? near : far)?.some((call) => call.test(sources.get(test) ?? '')),
    )
  }
  const steps = new Map([[target, 0]])
  for (const [file, count] of steps) {
    if (count === MOST_STEPS) continue
    for (const next of [...(importers.get(file) ?? []), ...callers(file)]) {
      if (!steps.has(next) && !SHARED_BY_TESTS.test(next)) steps.set(next, count + 1)
    }
  }
  const durations = readDurations()
  const { dir, name } = path.parse(target)
  return tests
    .filter((file) => steps.has(file) || file.startsWith(`test/${dir}/${name}`))
    .map((file) => ({
      file,
      steps: steps.get(file) ?? 1,
      duration: durations.get(file) ?? guessMs(sources.get(file)),
    }))
    .sort((a, b) => rankOf(target, a) - rankOf(target, b) || a.duration - b.duration)
}

/** Lists the paths of the endpoints that sources declare. */
export const endpointsIn = (files: readonly string[]): string[] =>
  files.flatMap((file) => endpointPaths(file, readOr(file)))
