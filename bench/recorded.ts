import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Sources } from './cost.ts'
import type { CpuUse } from './cpu.ts'
import type { StoreUse } from './endpoints.ts'
import { median } from './statistics.ts'

/**
 * Measurements from which tables are computed. A test compares the units with those of the code, and the documents with the tables
 * (test/bench/documents.test.ts).
 */
const FILE = path.join(import.meta.dirname, 'results/measured.json')

export const readRecorded = (): Sources => JSON.parse(readFileSync(FILE, 'utf8'))

/** Formats like JSON, with one line for each entry of a list. */
const format = ({ store, cpu }: Sources): string => {
  const list = (entries: readonly unknown[]) => `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`
  const { requests, workers, longRun, traces } = store
  const lists = { requests, workers, longRun }
  const parts = Object.entries(lists).map(([name, entries]) => `"${name}": ${list(entries)}`)
  const traced = Object.entries(traces).map(([name, steps]) => `"${name}": ${list(steps)}`)
  return `{"cpu": ${JSON.stringify(cpu)},\n"store": {${parts.join(',\n')},\n"traces": {${traced.join(',\n')}}}}\n`
}

const write = (sources: Sources): void => writeFileSync(FILE, format(sources))

export const recordStore = ({ failures: _, ...store }: StoreUse): void => write({ ...readRecorded(), store })

/** Records the CPU of the measured requests, and keeps that of the others. */
export const recordCpu = (uses: readonly CpuUse[]): void => {
  const recorded = readRecorded()
  const measured = uses.map(({ name, real }) => [name, Math.round(median(real))])
  write({ ...recorded, cpu: { ...recorded.cpu, ...Object.fromEntries(measured) } })
}
