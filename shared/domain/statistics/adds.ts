import { createHash } from 'node:crypto'
import type { OutboxEvent } from '../../entities/events.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Run } from '../../entities/runs.ts'
import {
  type AppDay,
  AppDayEntity,
  AppTotalEntity,
  DURATION_BOUNDS,
  durationField,
  STATS_SHARDS,
  type StatsBlock,
} from '../../entities/statistics.ts'
import type { Write } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { durationOf } from '../runs/present.ts'
import { platformWrites } from './platform.ts'
import { agentDayWrite, gaugeWrite } from './workspace.ts'

/** What an event adds to the counters of its app. */
type Added = { [F in Exclude<keyof AppDay, 'app_id' | 'shard' | 'block' | 'day'>]?: number }

/** An event with what it tells of, while that is there. */
export interface Told {
  event: OutboxEvent
  data: { run_id: string; installation_id: string; app_id: string; task_id: string }
  record: unknown
}

/**
 * What an event adds to the counters of the platform, of its app and of its workspace. The day is that of the event, in UTC, so
 * late messages count where they belong.
 * @param spread what chooses the shards; events that are counted together have the same, so that they meet at the same items
 */
export const addsOf = (work: Pick<WorkerWork, 'table'>, told: Told, spread: string): Write[] => {
  const { event } = told
  switch (event.type) {
    case 'run.created':
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled': {
      const run = told.record as Run | undefined
      const onPlatform = platformWrites(work, event, run, spread)
      if (!run) return onPlatform
      const add = event.type === 'run.created' ? { runs: 1 } : outcome(run)
      return [...onPlatform, ...appWrites(told, run, add, spread), agentDayWrite(event, run, shardOf(spread), add)]
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

const appWrites = (
  { event, data: { app_id } }: Told,
  { is_sandbox }: Pick<Run, 'is_sandbox'>,
  add: Added,
  spread: string,
): Write[] => {
  const block: StatsBlock = is_sandbox ? 'sandbox' : 'live'
  const total = { app_id, block, shard: shardOf(spread) }
  const day = { ...total, day: new Date(event.created_at).toISOString().slice(0, 10) }
  return [AppTotalEntity.upsert(total, { set: total, add }), AppDayEntity.upsert(day, { set: day, add })]
}

const shardOf = (spread: string): number => createHash('sha256').update(spread).digest().readUInt32BE(0) % STATS_SHARDS

/** A cancelled run's duration says nothing of the agent. */
const outcome = (run: Run): Added => {
  if (run.status === 'cancelled') return { cancelled: 1 }
  const duration_ms = durationOf(run) ?? 0
  const at = DURATION_BOUNDS.findIndex((bound) => duration_ms <= bound)
  const bucket = durationField(at < 0 ? DURATION_BOUNDS.length : at)
  return { [run.status === 'succeeded' ? 'succeeded' : 'failed']: 1, duration_ms, [bucket]: 1 }
}
