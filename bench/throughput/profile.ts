import type { Profiler } from 'node:inspector'

/** Place in an executed file, with line and column from 0. */
export interface Frame {
  functionName: string
  url: string
  line: number
  column: number
}

/** Finds the source of a place in a built file, or undefined if it is unknown. */
export type Sources = (frame: Frame) => string | undefined

/** Entries of a profile without a script: idle time, or native code, which a profile can't distinguish from waiting. */
const NO_SCRIPT = new Set(['(idle)', '(program)'])

/** Returns the milliseconds for which each function itself ran, without its callees. */
export const selfTimes = ({
  nodes,
  samples = [],
  timeDeltas = [],
}: Profiler.Profile): { frame: Frame; ms: number }[] => {
  const times = new Map<number, number>()
  for (const [i, node] of samples.entries()) times.set(node, (times.get(node) ?? 0) + (timeDeltas[i] ?? 0) / 1_000)
  return nodes.flatMap(({ id, callFrame: { functionName, url, lineNumber, columnNumber } }) => {
    const ms = times.get(id) ?? 0
    if (ms <= 0 || NO_SCRIPT.has(functionName)) return []
    return [{ frame: { functionName, url, line: lineNumber, column: columnNumber }, ms }]
  })
}

const NATIVE = 'native code and system calls'

const NODE_AREAS: readonly [RegExp, string][] = [
  [/http|net|stream|tls|dns|socket|url/, 'node: HTTP and streams'],
  [/crypto/, 'node: crypto'],
  [/sqlite/, 'node: SQLite'],
  [/worker|message|per_context/, 'node: between threads'],
]

const areaOfSource = (source: string): string => {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]
  if (name) return /^@(aws|aws-sdk|aws-crypto|smithy)\//.test(name) ? 'AWS SDK' : name
  const [, top, rest = ''] = /(?:^|\/)(shared|functions|local)\/(.+)/.exec(source) ?? []
  if (!top) return 'the rest'
  return top === 'functions' ? 'ours: functions' : `ours: ${top}/${rest.split(/[/.]/)[0]}`
}

/**
 * Returns the part of the program that a function belongs to: a package, a folder of the repository, a part of Node, or the engine.
 * JSON.parse and similar functions have no frames, so they count for their caller.
 */
export const areaOf = (frame: Frame, sources: Sources): string => {
  const { functionName, url } = frame
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (url === '') return NATIVE
  if (url.startsWith('node:')) return NODE_AREAS.find(([pattern]) => pattern.test(url))?.[1] ?? 'node: the rest'
  return areaOfSource(sources(frame) ?? url)
}

/**
 * Returns the milliseconds of CPU by area. CPU time beyond the samples is native code. If the samples exceed the CPU time, the thread
 * waited for a core, and all areas are scaled down.
 *
 * @param cpuMs CPU time that the thread really used
 */
export const byArea = (profile: Profiler.Profile, cpuMs: number, sources: Sources): Map<string, number> => {
  const areas = new Map<string, number>()
  const add = (area: string, ms: number) => areas.set(area, (areas.get(area) ?? 0) + ms)
  const times = selfTimes(profile)
  const sampled = times.reduce((sum, { ms }) => sum + ms, 0)
  for (const { frame, ms } of times) add(areaOf(frame, sources), ms * Math.min(1, cpuMs / sampled))
  if (cpuMs > sampled) add(NATIVE, cpuMs - sampled)
  return areas
}

/** Adds maps by key. */
export const together = (maps: Iterable<ReadonlyMap<string, number>>): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const map of maps) for (const [name, n] of map) sums.set(name, (sums.get(name) ?? 0) + n)
  return sums
}
