import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Sources } from './cost.ts'
import type { CpuUse } from './cpu.ts'
import type { Consumption } from './endpoints/meter.ts'
import type { Measured, StoreUse } from './endpoints.ts'
import { median } from './statistics.ts'

/**
 * Measurements from which tables are computed. A test compares the units with those of the code, and the documents with the tables
 * (test/bench/documents.test.ts).
 */
export const MEASURED = 'bench/results/measured.json'

const FILE = path.resolve(import.meta.dirname, '..', MEASURED)

export const readRecorded = (): Sources => JSON.parse(readFileSync(FILE, 'utf8'))

/** Formats like JSON, with one line for each entry of a list. */
export const formatSources = ({ store, cpu }: Sources): string => {
  const list = (entries: readonly unknown[]) => `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`
  const { requests, workers, longRun, traces } = store
  const lists = { requests, workers, longRun }
  const parts = Object.entries(lists).map(([name, entries]) => `"${name}": ${list(entries)}`)
  const traced = Object.entries(traces).map(([name, steps]) => `"${name}": ${list(steps)}`)
  return `{"cpu": ${JSON.stringify(cpu)},\n"store": {${parts.join(',\n')},\n"traces": {${traced.join(',\n')}}}}\n`
}

/** Adds the measured CPU of some requests. */
export const withCpu = (recorded: Sources, uses: readonly CpuUse[]): Sources => {
  const measured = uses.map(({ name, real }) => [name, Math.round(median(real))])
  return { ...recorded, cpu: { ...recorded.cpu, ...Object.fromEntries(measured) } }
}

/** They wait for a run or read until something has changed, so the number of their reads depends on the time. */
const WAITS = /ask_agent|test-run|test-install|tools\/call of an agent’s tool|message:stream|\?wait|waited for/

export const isTimed = ({ name }: Pick<Measured, 'name'>): boolean => WAITS.test(name)

/** Bytes of a record of a counter. Whether a write creates it depends on the hour and on the shard that is drawn. */
const COUNTER_BYTES = 500

/** A rate limit may be read again. */
const near = (one: number, other: number, least: number): boolean =>
  Math.abs(one - other) <= Math.max(least, 0.05 * Math.max(one, other))

/** Lists what differs between two measurements by more than the time and the drawn shards explain. */
export const differences = (was: Consumption, now: Consumption): string[] => {
  const fields = ['writeUnits', 'dueUnits', 'counterUnits'] as const
  return [
    ...fields.filter((field) => was[field] !== now[field]).map((field) => `${field} ${was[field]} → ${now[field]}`),
    ...(near(was.readUnits, now.readUnits, 1) ? [] : [`readUnits ${was.readUnits} → ${now.readUnits}`]),
    ...(near(was.calls, now.calls, 1) ? [] : [`calls ${was.calls} → ${now.calls}`]),
    ...(near(was.storedBytes, now.storedBytes, COUNTER_BYTES * (1 + now.counterUnits))
      ? []
      : [`storedBytes ${was.storedBytes} → ${now.storedBytes}`]),
  ]
}

/** Keeps recorded measurements that new ones confirm, so that recording again changes nothing. */
const confirmed = <M extends Measured>(recorded: readonly Measured[], measured: readonly M[]): M[] => {
  const known = new Map(recorded.map(({ name, consumption }) => [name, consumption]))
  return measured.map((one) => {
    const was = known.get(one.name)
    const isKept = was !== undefined && (isTimed(one) || differences(was, one.consumption).length === 0)
    return isKept ? { ...one, consumption: was } : one
  })
}

/** Write units of each part of a long run. Those of an event depend on timing, so only its kind counts. */
export const writesOf = ({ longRun }: Pick<StoreUse, 'longRun'>): unknown[] =>
  longRun.map((part) => (part.kind === 'event' ? part.kind : [part.kind, part.consumption.writeUnits]))

/** Replaces what differs from the recorded use of the store. */
export const withStore = (recorded: Sources, { failures: _, ...measured }: StoreUse): Sources => ({
  ...recorded,
  store: {
    ...measured,
    requests: confirmed(recorded.store.requests, measured.requests),
    workers: confirmed(recorded.store.workers, measured.workers),
    longRun: isDeepStrictEqual(writesOf(recorded.store), writesOf(measured))
      ? recorded.store.longRun
      : measured.longRun,
  },
})
