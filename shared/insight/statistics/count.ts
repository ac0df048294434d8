import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import type { Ref } from '#shared/table/entity.ts'
import { alertBudgets } from '#shared/work/budgets/index.ts'
import { type Run, RunEntity } from '#shared/work/runs/index.ts'
import { TaskEntity } from '#shared/work/tasks/index.ts'
import { addFollowingWork, type BatchWork, fileRun } from './batch-work.ts'
import { countExactlyOnce } from './count-exactly-once.ts'
import type { LoadedEvent } from './counter-writes.ts'

/** Number of runs whose index and log entries are written concurrently. */
const FILED_AT_ONCE = 16

/**
 * Counts events for the platform, their apps and their workspaces, and writes runs to the admin index and their app's
 * log. Each event counts once, however often it is delivered: its marker and its increments are one transaction. Other
 * index and log entries are idempotent, so they are plain writes, repeated with every delivery.
 * @returns errors by event; all other events were processed
 */
export const countEvents = async (
  work: WorkerWork,
  events: readonly OutboxEvent[],
): Promise<Map<OutboxEvent, unknown>> => {
  const failed = new Map<OutboxEvent, unknown>()
  const following: BatchWork = { counts: new Map(), runs: new Map() }
  const all = await loadEvents(work, events, failed)
  const store = { table: work.table, now: work.clock.now() }
  const names = all.map((loaded) => addFollowingWork(store, loaded, all[0]?.event.id ?? '', following))
  const { counts, runs } = following
  const [uncounted, unfiled] = await Promise.all([
    countExactlyOnce(work, counts),
    forEachConcurrently([...runs.values()], FILED_AT_ONCE, (filing) => fileRun(store, filing)),
  ])
  const wrong = new Map(uncounted)
  for (const [{ run }, error] of unfiled) wrong.set(run.id, error)
  for (const [i, { event }] of all.entries()) {
    const name = names[i]?.find((step) => wrong.has(step))
    if (name !== undefined) failed.set(event, wrong.get(name))
  }
  await alertAbout(work, all, failed)
  return failed
}

/** Tells people about budgets that these runs have used up, or nearly. */
const alertAbout = async (
  work: WorkerWork,
  all: readonly LoadedEvent[],
  failed: Map<OutboxEvent, unknown>,
): Promise<void> => {
  const charged = all.filter(
    ({ event, record }) => event.type.startsWith('run.') && (record as Run | undefined)?.budgets,
  )
  try {
    await alertBudgets(
      work,
      charged.map(({ record }) => record as Run),
    )
  } catch (error) {
    for (const { event } of charged) failed.set(event, error)
  }
}

/** Loads the records that the events refer to, in one batch. Skips test events, which developers send as samples. */
const loadEvents = async (
  { table }: WorkerWork,
  events: readonly OutboxEvent[],
  failed: Map<OutboxEvent, unknown>,
): Promise<LoadedEvent[]> => {
  const readable: { event: OutboxEvent; data: LoadedEvent['data']; ref: Ref }[] = []
  for (const event of events) {
    if (event.test) continue
    try {
      const data = JSON.parse(event.data)
      readable.push({ event, data, ref: recordOf(event, data) })
    } catch (error) {
      failed.set(event, error)
    }
  }
  const records = await table.getAll(readable.map(({ ref }) => ref))
  return readable.map(({ event, data }, i) => ({ event, data, record: records[i] }))
}

const recordOf = (
  { type, workspace_id }: OutboxEvent,
  { task_id, run_id, installation_id }: LoadedEvent['data'],
): Ref => {
  if (type.startsWith('task.')) return TaskEntity.ref({ workspace_id, id: task_id })
  return type.startsWith('installation.')
    ? InstallationEntity.ref({ workspace_id, id: installation_id })
    : RunEntity.ref({ installation_id, id: run_id })
}
