import type { Installation } from '#shared/access/installations/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { utcDate } from '#shared/kernel/clock.ts'
import { shardNumber } from '#shared/kernel/shard.ts'
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

/** The store, and the time that decides how an event is counted. */
export interface Counting extends Pick<WorkerWork, 'table'> {
  now: number
}

/**
 * Returns the writes that count an event for the platform, its app and its workspace. The day is the event's own, in
 * UTC, so late events count on the right day.
 * @param spread determines the shards. Events that are counted together share it, so that they update the same items.
 */
export const counterWrites = (work: Counting, loaded: LoadedEvent, spread: string): Write[] => {
  const { event } = loaded
  switch (event.type) {
    case 'run.created':
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled': {
      const run = loaded.record as Run | undefined
      const onPlatform = platformWrites(work, event, run ?? loaded.listed, spread)
      if (!run) {
        const { listed } = loaded
        return listed ? [...onPlatform, ...appRunWrites(work, loaded, listed, { runs: 1 }, spread)] : onPlatform
      }
      const add = event.type === 'run.created' ? { runs: 1 } : outcome(run)
      return [
        ...onPlatform,
        ...appRunWrites(work, loaded, run, add, spread),
        ...workspaceDayWrites(event, run, shardOf(spread), add),
      ]
    }
    case 'installation.created':
    case 'installation.removed': {
      const installation = loaded.record as Installation | undefined
      const onPlatform = platformWrites(work, event, undefined, spread)
      if (!installation) return onPlatform
      const created = event.type === 'installation.created'
      return [
        ...onPlatform,
        ...appWrites(loaded, installation, created ? { installed: 1 } : { removed: 1 }, spread),
        gaugeWrite(event.workspace_id, { installed: created ? 1 : -1 }),
      ]
    }
    default:
      return []
  }
}

/** Counts a run for its app: in the day alone, or in the total as well if the day is old. */
const appRunWrites = (
  { now }: Counting,
  loaded: LoadedEvent,
  run: OfApp,
  add: Partial<Record<RunCounter, number>>,
  spread: string,
): Write[] => {
  if (!isOpen(now, loaded.event.created_at)) return appWrites(loaded, run, add, spread)
  const open = Object.fromEntries(Object.entries(add).map(([counter, n]) => [openField(counter as RunCounter), n]))
  return [appDayWrite(loaded, run, { ...open, ...byVersion(run.version, add) }, spread)]
}

/** Counts an event in its app's total and day. */
const appWrites = (loaded: LoadedEvent, subject: OfApp, add: Added, spread: string): Write[] => {
  const total = blockOf(loaded, subject, spread)
  return [
    AppTotalEntity.upsert(total, { set: total, add }),
    appDayWrite(loaded, subject, { ...add, ...byVersion(subject.version, add) }, spread),
  ]
}

const appDayWrite = (loaded: LoadedEvent, subject: OfApp, add: Record<string, number>, spread: string): Write => {
  const day = { ...blockOf(loaded, subject, spread), day: utcDate(loaded.event.created_at) }
  return AppDayEntity.upsert(day, { set: day, add })
}

/** A run or an installation. */
type OfApp = Pick<Run, 'is_sandbox' | 'version'>

const blockOf = ({ data: { app_id } }: LoadedEvent, { is_sandbox }: OfApp, spread: string) => {
  const block: StatsBlock = is_sandbox ? 'sandbox' : 'live'
  return { app_id, block, shard: shardOf(spread) }
}

const byVersion = (version: string, add: Added): Record<string, number> =>
  Object.fromEntries(
    Object.entries(add).flatMap(([counter, n]) => {
      const field = versionField(version, counter)
      return field === undefined ? [] : [[field, n]]
    }),
  )

const shardOf = (spread: string): number => shardNumber(spread, STATS_SHARDS)

/** A cancelled run's duration isn't counted, because it says nothing about the agent. */
const outcome = (run: Run): Partial<Record<RunCounter, number>> => {
  if (run.status === 'cancelled') return { cancelled: 1 }
  const duration_ms = durationOf(run) ?? 0
  const at = DURATION_BOUNDS.findIndex((bound) => duration_ms <= bound)
  const bucket = durationField(at < 0 ? DURATION_BOUNDS.length : at)
  return { [run.status === 'succeeded' ? 'succeeded' : 'failed']: 1, duration_ms, [bucket]: 1 }
}
