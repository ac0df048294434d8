import { createHash } from 'node:crypto'
import type { Installation } from '#shared/access/installations/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { durationOf, type Run } from '#shared/work/runs/index.ts'
import type { ActiveRun } from '../observed-runs/entity.ts'
import {
  AppDayEntity,
  type AppTotal,
  AppTotalEntity,
  DURATION_BOUNDS,
  durationField,
  openField,
  type RunCounter,
  STATS_SHARDS,
  type StatsBlock,
  versionField,
} from './entity.ts'
import { platformWrites } from './platform.ts'
import { isOpen } from './totals.ts'
import { gaugeWrite, workspaceDayWrites } from './workspace.ts'

/** Increments of an app's counters. */
type Added = { [F in Exclude<keyof AppTotal, 'app_id' | 'shard' | 'block'>]?: number }

/** An event with the record that it refers to, if it still exists. */
export interface LoadedEvent {
  event: OutboxEvent
  data: { run_id: string; installation_id: string; app_id: string; task_id: string }
  record: unknown
  /** Its run's entry among the active ones, if the record doesn't exist any longer. */
  listed?: ActiveRun
}

/** What counting depends on. */
export interface Counting extends Pick<WorkerWork, 'table'> {
  now: number
  /** Runs that were created from then on are counted at their end. Undefined while functions of the version before run. */
  countedAtEndSince: number | undefined
}

/**
 * Returns the writes that count an event for the platform, its app and its workspace. The day is the event's own, in
 * UTC, so late events count on the right day.
 * @param spread determines the shards. Events that are counted together share it, so that they update the same items.
 */
export const counterWrites = (work: Counting, told: LoadedEvent, spread: string): Write[] => {
  const { event } = told
  switch (event.type) {
    case 'run.created':
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled': {
      const run = told.record as Run | undefined
      const onPlatform = platformWrites(work, event, run ?? told.listed, spread)
      if (!run) {
        const { listed } = told
        return listed ? [...onPlatform, ...appRunWrites(work, told, listed, { runs: 1 }, spread)] : onPlatform
      }
      const add = event.type === 'run.created' ? { runs: 1 } : outcome(run)
      return [
        ...onPlatform,
        ...appRunWrites(work, told, run, add, spread),
        ...workspaceDayWrites(event, run, shardOf(spread), add),
      ]
    }
    case 'installation.created':
    case 'installation.removed': {
      const installation = told.record as Installation | undefined
      const onPlatform = platformWrites(work, event, undefined, spread)
      if (!installation) return onPlatform
      const created = event.type === 'installation.created'
      return [
        ...onPlatform,
        ...appWrites(told, installation, created ? { installed: 1 } : { removed: 1 }, spread),
        gaugeWrite(event.workspace_id, { installed: created ? 1 : -1 }),
      ]
    }
    default:
      return []
  }
}

/** Counts a run for its app: in the day alone, or in the total as well if the day is old, or if the version before may run. */
const appRunWrites = (
  { now, countedAtEndSince: since }: Counting,
  told: LoadedEvent,
  run: Pick<Run, 'is_sandbox' | 'version' | 'created_at'>,
  add: Partial<Record<RunCounter, number>>,
  spread: string,
): Write[] => {
  const isCountedOnce = since !== undefined && run.created_at >= since && isOpen(now, told.event.created_at)
  const [total, day] = appWrites(told, run, add, spread)
  if (!isCountedOnce) return [total, day]
  const open = Object.entries(add).map(([counter, n]) => [openField(counter as RunCounter), n] as const)
  const closed = Object.entries(day.changes?.add ?? {}).filter(([field]) => !(field in add))
  return [
    { ...day, changes: { ...day.changes, add: Object.fromEntries([...open, ...closed]) as Record<string, number> } },
  ]
}

const appWrites = (
  { event, data: { app_id } }: LoadedEvent,
  { is_sandbox, version }: Pick<Run, 'is_sandbox' | 'version'>,
  add: Added,
  spread: string,
): [total: Write, day: Write] => {
  const block: StatsBlock = is_sandbox ? 'sandbox' : 'live'
  const total = { app_id, block, shard: shardOf(spread) }
  const day = { ...total, day: new Date(event.created_at).toISOString().slice(0, 10) }
  return [
    AppTotalEntity.upsert(total, { set: total, add }),
    AppDayEntity.upsert(day, { set: day, add: { ...add, ...byVersion(version, add) } }),
  ]
}

const byVersion = (version: string, add: Added): Record<string, number> =>
  Object.fromEntries(
    Object.entries(add).flatMap(([counter, n]) => {
      const field = versionField(version, counter)
      return field === undefined ? [] : [[field, n]]
    }),
  )

const shardOf = (spread: string): number => createHash('sha256').update(spread).digest().readUInt32BE(0) % STATS_SHARDS

/** A cancelled run's duration isn't counted, because it says nothing about the agent. */
const outcome = (run: Run): Partial<Record<RunCounter, number>> => {
  if (run.status === 'cancelled') return { cancelled: 1 }
  const duration_ms = durationOf(run) ?? 0
  const at = DURATION_BOUNDS.findIndex((bound) => duration_ms <= bound)
  const bucket = durationField(at < 0 ? DURATION_BOUNDS.length : at)
  return { [run.status === 'succeeded' ? 'succeeded' : 'failed']: 1, duration_ms, [bucket]: 1 }
}
