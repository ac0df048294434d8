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
import { TaskEntity } from '../../entities/tasks.ts'
import { DAY } from '../../kernel/clock.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { WorkerWork } from '../deps.ts'

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

const TRIES = 10

/**
 * Counts something as what it is now. What it is counted as stands beside the counters, and that it still is what was read
 * is a condition of the same transaction; so it does not matter how often, how late or in which order events come: the last
 * of them finds the last state.
 * @param read what it is, and the condition that it is that still; undefined state: not counted
 */
const countAs = async (
  { table }: Pick<WorkerWork, 'table'>,
  key: { workspace_id: string; id: string },
  read: () => Promise<{ state: string | undefined; holds: Write | undefined }>,
  gauge: (state: string) => Gauge,
): Promise<void> => {
  for (let tries = 0; ; tries++) {
    const [counted, { state, holds }] = await Promise.all([table.get(CountedStateEntity, key), read()])
    if (counted?.state === state) return
    const add: { [G in Gauge]?: number } = {}
    const move = (one: string, by: number) => {
      add[gauge(one)] = (add[gauge(one)] ?? 0) + by
    }
    if (counted) move(counted.state, -1)
    if (state !== undefined) move(state, 1)
    const was = { where: { state: counted?.state ?? missing } }
    try {
      await table.transact([
        state === undefined ? CountedStateEntity.delete(key, was) : CountedStateEntity.replace({ ...key, state }, was),
        gaugeWrite(key.workspace_id, add),
        ...(holds ? [holds] : []),
      ])
      return
    } catch (error) {
      if (!(error instanceof ConditionFailed) || tries >= TRIES) throw error
      await backoff(tries)
    }
  }
}

/** Counts a task by its status. */
export const countTask = (work: WorkerWork, workspace_id: string, id: string): Promise<void> =>
  countAs(
    work,
    { workspace_id, id },
    async () => {
      const task = await work.table.get(TaskEntity, { workspace_id, id })
      return {
        state: task?.status,
        holds: task && TaskEntity.check(task, { where: { revision: task.revision } }),
      }
    },
    (status) => `tasks_${status}` as Gauge,
  )

/** Counts a run among those that wait for approval, or no longer. */
export const countApproval = (
  work: WorkerWork,
  workspace_id: string,
  installation_id: string,
  id: string,
): Promise<void> =>
  countAs(
    work,
    { workspace_id, id },
    async () => {
      const run = await work.table.get(RunEntity, { installation_id, id })
      const pending = run?.pending_step
      return {
        // By its step: one that waits no longer never waits for the same again, and a new approval tells of itself.
        state: pending,
        holds: run && pending !== undefined ? RunEntity.check(run, { where: { pending_step: pending } }) : undefined,
      }
    },
    () => 'approvals_pending',
  )
