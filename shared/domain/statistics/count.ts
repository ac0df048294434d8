import { createHash } from 'node:crypto'
import type { OutboxEvent } from '../../entities/events.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { type Run, RunEntity } from '../../entities/runs.ts'
import {
  type AppDay,
  AppDayEntity,
  AppTotalEntity,
  CountedEventEntity,
  DURATION_BOUNDS,
  durationField,
  STATS_SHARDS,
  type StatsBlock,
} from '../../entities/statistics.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { placeRun } from '../observation/place-run.ts'
import { durationOf } from '../runs/present.ts'
import { logWrites } from './log.ts'
import { platformWrites } from './platform.ts'
import { agentDayWrite, countApproval, countTask, gaugeWrite } from './workspace.ts'

/** What an event adds to the counters of its app. */
type Added = { [F in Exclude<keyof AppDay, 'app_id' | 'shard' | 'block' | 'day'>]?: number }

interface Counted {
  app_id: string
  block: StatsBlock
  add: Added
  /** The run's places in the log, and what its workspace counts. */
  logs: Write[]
  /** What the event tells of, when it is one. */
  run?: Run
}

/**
 * Counts an event for the platform, its app and its workspace, and puts a finished run into the app's log. Once, however often it comes: the mark, the
 * counters and the log are one transaction. The day is that of the event, in UTC, so late messages count where they belong.
 */
export const countEvent = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  if (event.test) return
  await countState(work, event)
  const counted = await whatItAdds(work, event)
  const onPlatform = platformWrites(work, event, counted?.run)
  if (!counted && onPlatform.length === 0) return
  try {
    await work.commit([
      CountedEventEntity.create({ event_id: event.id, created_at: event.created_at }),
      ...onPlatform,
      ...(counted ? appWrites(event, counted) : []),
    ])
  } catch (error) {
    // Counted before.
    if (!(error instanceof ConditionFailed)) throw error
  }
}

const appWrites = (event: OutboxEvent, { app_id, block, add, logs }: Counted): Write[] => {
  const total = { app_id, block, shard: shardOf(event.id) }
  const day = { ...total, day: new Date(event.created_at).toISOString().slice(0, 10) }
  return [AppTotalEntity.upsert(total, { set: total, add }), AppDayEntity.upsert(day, { set: day, add }), ...logs]
}

/** Counts in the workspace what is now in another state than before. */
const countState = async (work: WorkerWork, { type, workspace_id, data }: OutboxEvent): Promise<void> => {
  const { run_id, installation_id, task_id } = JSON.parse(data)
  if (type === 'task.created' || type === 'task.updated') return countTask(work, workspace_id, task_id)
  if (type.startsWith('installation.')) return
  if (type !== 'run.awaiting_approval' && type !== 'run.resumed' && type !== 'approval.decided') {
    await placeRun(work, { installation_id, id: run_id })
  }
  if (type === 'run.created') return
  await countApproval(work, workspace_id, installation_id, run_id)
}

const shardOf = (eventId: string): number =>
  createHash('sha256').update(eventId).digest().readUInt32BE(0) % STATS_SHARDS

const whatItAdds = async (work: WorkerWork, event: OutboxEvent): Promise<Counted | undefined> => {
  const { run_id, installation_id, app_id } = JSON.parse(event.data)
  switch (event.type) {
    case 'run.created':
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled': {
      const run = await work.table.get(RunEntity, { installation_id, id: run_id })
      if (!run) return undefined
      const block = run.is_sandbox ? 'sandbox' : 'live'
      const ofAgent = (add: Added) => agentDayWrite(event, run, shardOf(event.id), add)
      if (event.type === 'run.created') {
        return { app_id, block, add: { runs: 1 }, logs: [ofAgent({ runs: 1 })], run }
      }
      const add = outcome(run)
      return { app_id, block, add, logs: [...logWrites(run), ofAgent(add)], run }
    }
    case 'installation.created':
    case 'installation.removed': {
      const { workspace_id } = event
      const installation = await work.table.get(InstallationEntity, { workspace_id, id: installation_id })
      if (!installation) return undefined
      const block = installation.is_sandbox ? 'sandbox' : 'live'
      const created = event.type === 'installation.created'
      const logs = [gaugeWrite(workspace_id, { installed: created ? 1 : -1 })]
      return { app_id, block, add: created ? { installed: 1 } : { removed: 1 }, logs }
    }
    default:
      return undefined
  }
}

/** A cancelled run's duration says nothing of the agent. */
const outcome = (run: Run): Added => {
  if (run.status === 'cancelled') return { cancelled: 1 }
  const duration_ms = durationOf(run) ?? 0
  const at = DURATION_BOUNDS.findIndex((bound) => duration_ms <= bound)
  const bucket = durationField(at < 0 ? DURATION_BOUNDS.length : at)
  return { [run.status === 'succeeded' ? 'succeeded' : 'failed']: 1, duration_ms, [bucket]: 1 }
}
