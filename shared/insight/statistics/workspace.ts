import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { DAY, utcDate } from '#shared/kernel/clock.ts'
import type { ItemOf, Ref, Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type Run, RunEntity, tokensOf } from '#shared/work/runs/index.ts'
import { type Task, TaskEntity } from '#shared/work/tasks/index.ts'
import type { Countable } from './count-exactly-once.ts'
import {
  type AgentDay,
  AgentDayEntity,
  CountedStateEntity,
  type PersonDay,
  PersonDayEntity,
  QUARTERS,
  quarterField,
  WORKSPACE_SHARDS,
  type WorkspaceNow,
  WorkspaceNowEntity,
} from './entity.ts'

/** Returns the quarter hour of a time within its UTC day. */
export const quarterOf = (ms: number): number => Math.floor(((ms % DAY) / DAY) * QUARTERS)

/**
 * Returns the writes that count a run's event for its agent's and its person's day in its workspace, for the transaction
 * that counts the event.
 * @param added app counters, of which the workspace keeps some
 */
export const workspaceDayWrites = (
  event: OutboxEvent,
  run: Run,
  shard: number,
  { runs, succeeded, failed, cancelled, duration_ms, ...rest }: Record<string, number | undefined>,
): Write[] => {
  const quarter = quarterOf(event.created_at)
  const { usage, cost_units, actor } = run
  const tokens = usage && tokensOf(usage)
  const counted = {
    runs,
    succeeded,
    failed,
    cancelled,
    duration_ms,
    ...(!runs && { cost_units, tokens }),
  }
  const add: Record<string, number> = {}
  for (const [counter, n] of Object.entries(counted)) {
    if (n) add[quarterField(counter as keyof typeof counted, quarter)] = n
  }
  const byAgent = { ...add }
  for (const [field, n] of Object.entries(rest)) if (n && /^d\d+$/.test(field)) byAgent[field] = n
  const at = {
    workspace_id: run.workspace_id,
    shard: shard % WORKSPACE_SHARDS,
    day: utcDate(event.created_at),
  }
  const agent = { ...at, installation_id: run.installation_id }
  const person = actor && { ...at, user_id: actor.id }
  return [
    AgentDayEntity.upsert(agent, { set: agent as AgentDay, add: byAgent }),
    ...(person ? [PersonDayEntity.upsert(person, { set: person as PersonDay, add })] : []),
  ]
}

type Gauge = Exclude<keyof WorkspaceNow, 'workspace_id'>

/** Changes a workspace's current counts. */
export const gaugeWrite = (workspace_id: string, add: { [G in Gauge]?: number }): Write =>
  WorkspaceNowEntity.upsert({ workspace_id }, { set: { workspace_id }, add })

/** State under which a record is counted, and the condition that it still has this state. */
interface Standing {
  /** Undefined when it isn't counted. */
  state: string | undefined
  holds: Write | undefined
}

/**
 * Counts a record under its current state. The counted state is stored next to the counters, and the transaction checks
 * that it is still the one that was read. Events may therefore arrive repeatedly, late and in any order: the last one
 * sees the final state.
 * @param known earlier state of the record, read again if it proves outdated
 */
const countAs = <T>(
  key: { workspace_id: string; id: string },
  record: Ref,
  known: T | undefined,
  standing: (record: T | undefined) => Standing,
  gauge: (state: string) => Gauge,
): Countable => {
  const counted: Ref = CountedStateEntity.ref(key)
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
        ...moves.flatMap(([moved, by]) =>
          moved === undefined ? [] : [gaugeWrite(key.workspace_id, { [gauge(moved)]: by })],
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
    TaskEntity.ref(key),
    known,
    (task) => ({
      state: task?.status,
      holds: task && TaskEntity.check(task, { where: { revision: task.revision } }),
    }),
    (status) => `tasks_${status}` as Gauge,
  )

/** Counts a run while it awaits approval. */
export const countApproval = (
  workspace_id: string,
  key: { installation_id: string; id: string },
  known: Run | undefined,
): Countable =>
  countAs<Run>(
    { workspace_id, id: key.id },
    RunEntity.ref(key),
    known,
    (run) => {
      const pending = run?.pending_step
      return {
        // Identified by its step. A run never waits for the same step again, and a new approval has its own event.
        state: pending,
        holds: run && pending !== undefined ? RunEntity.check(run, { where: { pending_step: pending } }) : undefined,
      }
    },
    () => 'approvals_pending',
  )
