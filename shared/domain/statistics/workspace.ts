import type { OutboxEvent } from '../../entities/events.ts'
import { type Run, RunEntity } from '../../entities/runs.ts'
import {
  type AgentDay,
  AgentDayEntity,
  CountedStateEntity,
  QUARTERS,
  quarterField,
  WORKSPACE_SHARDS,
  type WorkspaceNow,
  WorkspaceNowEntity,
} from '../../entities/statistics.ts'
import { type Task, TaskEntity } from '../../entities/tasks.ts'
import { DAY } from '../../kernel/clock.ts'
import type { ItemOf, Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Ref } from '../../table/table.ts'
import type { Countable } from './settle.ts'

/** Which quarter of an hour of its day in UTC a time lies in. */
const quarterOf = (ms: number): number => Math.floor(((ms % DAY) / DAY) * QUARTERS)

/**
 * What an event of a run adds to its agent's day in its workspace: for the transaction that counts the event.
 * @param added counters of the app, as far as the workspace has them too
 */
export const agentDayWrite = (
  event: OutboxEvent,
  run: Run,
  shard: number,
  { runs, succeeded, failed, cancelled, duration_ms, ...rest }: Record<string, number | undefined>,
): Write => {
  const quarter = quarterOf(event.created_at)
  const counted = { runs, succeeded, failed, cancelled, duration_ms, cost_units: runs ? undefined : run.cost_units }
  const add: Record<string, number> = {}
  for (const [counter, n] of Object.entries(counted)) {
    if (n) add[quarterField(counter as keyof typeof counted, quarter)] = n
  }
  for (const [field, n] of Object.entries(rest)) if (n && /^d\d+$/.test(field)) add[field] = n
  const key = {
    workspace_id: run.workspace_id,
    shard: shard % WORKSPACE_SHARDS,
    day: new Date(event.created_at).toISOString().slice(0, 10),
    installation_id: run.installation_id,
  }
  return AgentDayEntity.upsert(key, { set: key as AgentDay, add })
}

type Gauge = Exclude<keyof WorkspaceNow, 'workspace_id'>

/** Moves how many of something a workspace has now. */
export const gaugeWrite = (workspace_id: string, add: { [G in Gauge]?: number }): Write =>
  WorkspaceNowEntity.upsert({ workspace_id }, { set: { workspace_id }, add })

/** What a thing is counted as, and the condition that it is that still. */
interface Standing {
  /** Undefined: not counted. */
  state: string | undefined
  holds: Write | undefined
}

/**
 * Counts something as what it is now. What it is counted as stands beside the counters, and that it still is what was read
 * is a condition of the same transaction; so it does not matter how often, how late or in which order events come: the last
 * of them finds the last state.
 * @param known what the record was a moment ago; it is read again where that proves wrong
 */
const countAs = <T>(
  key: { workspace_id: string; id: string },
  record: Ref,
  known: T | undefined,
  standing: (record: T | undefined) => Standing,
  gauge: (state: string) => Gauge,
): Countable => {
  const counted: Ref = { entity: CountedStateEntity, key: CountedStateEntity.key(key) }
  return {
    near: `#${key.workspace_id}`,
    reads: (again) => (again ? [counted, record] : [counted]),
    writes: (read) => {
      const was = (read[0] as ItemOf<typeof CountedStateEntity> | undefined)?.state
      const { state, holds } = standing(read.length > 1 ? (read[1] as T | undefined) : known)
      if (was === state) return []
      const moves: [string | undefined, number][] = [
        [was, -1],
        [state, 1],
      ]
      const where = { where: { state: was ?? missing } }
      return [
        state === undefined
          ? CountedStateEntity.delete(key, where)
          : CountedStateEntity.replace({ ...key, state }, where),
        ...moves.flatMap(([one, by]) =>
          one === undefined ? [] : [gaugeWrite(key.workspace_id, { [gauge(one)]: by })],
        ),
        ...(holds ? [holds] : []),
      ]
    },
  }
}

/** Counts a task by its status. */
export const countTask = (key: { workspace_id: string; id: string }, known: Task | undefined): Countable =>
  countAs<Task>(
    key,
    { entity: TaskEntity, key: TaskEntity.key(key) },
    known,
    (task) => ({
      state: task?.status,
      holds: task && TaskEntity.check(task, { where: { revision: task.revision } }),
    }),
    (status) => `tasks_${status}` as Gauge,
  )

/** Counts a run among those that wait for approval, or no longer. */
export const countApproval = (
  workspace_id: string,
  key: { installation_id: string; id: string },
  known: Run | undefined,
): Countable =>
  countAs<Run>(
    { workspace_id, id: key.id },
    { entity: RunEntity, key: RunEntity.key(key) },
    known,
    (run) => {
      const pending = run?.pending_step
      return {
        // By its step: one that waits no longer never waits for the same again, and a new approval tells of itself.
        state: pending,
        holds: run && pending !== undefined ? RunEntity.check(run, { where: { pending_step: pending } }) : undefined,
      }
    },
    () => 'approvals_pending',
  )
