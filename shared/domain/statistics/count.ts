import type { OutboxEvent } from '../../entities/events.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { RunEntity } from '../../entities/runs.ts'
import { TaskEntity } from '../../entities/tasks.ts'
import { eachOf } from '../../kernel/each-of.ts'
import type { Ref } from '../../table/table.ts'
import type { WorkerWork } from '../deps.ts'
import type { Told } from './adds.ts'
import { type Following, fileRun, follow } from './follow.ts'
import { settle } from './settle.ts'

/** Runs whose places and log entries are written at the same time. */
const FILED_AT_ONCE = 16

/**
 * Counts events for the platform, their apps and their workspaces, and puts runs where they are found: into the lists of the
 * staff, and into their app's log. Each counts once, however often it comes and with which others: its mark and what it adds
 * are one transaction. Places and log entries are the same however often they are written, so they are plain writes, made
 * with every message that tells of them.
 * @returns what went wrong, by event; for the others all is done
 */
export const countEvents = async (
  work: WorkerWork,
  events: readonly OutboxEvent[],
): Promise<Map<OutboxEvent, unknown>> => {
  const failed = new Map<OutboxEvent, unknown>()
  const following: Following = { counts: new Map(), runs: new Map() }
  const all = await toldBy(work, events, failed)
  const names = all.map((told) => follow(work, told, all[0]?.event.id ?? '', following))
  const { counts, runs } = following
  const [uncounted, unfiled] = await Promise.all([
    settle(work, counts),
    eachOf([...runs.values()], FILED_AT_ONCE, (filing) => fileRun(work, filing)),
  ])
  const wrong = new Map(uncounted)
  for (const [{ run }, error] of unfiled) wrong.set(run.id, error)
  for (const [i, { event }] of all.entries()) {
    const name = names[i]?.find((one) => wrong.has(one))
    if (name !== undefined) failed.set(event, wrong.get(name))
  }
  return failed
}

/** Reads what the events tell of, at once. Samples that a developer asked for are nothing that happened. */
const toldBy = async (
  { table }: WorkerWork,
  events: readonly OutboxEvent[],
  failed: Map<OutboxEvent, unknown>,
): Promise<Told[]> => {
  const readable: { event: OutboxEvent; data: Told['data']; ref: Ref }[] = []
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

const recordOf = ({ type, workspace_id }: OutboxEvent, { task_id, run_id, installation_id }: Told['data']): Ref => {
  if (type.startsWith('task.')) return { entity: TaskEntity, key: TaskEntity.key({ workspace_id, id: task_id }) }
  return type.startsWith('installation.')
    ? { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id: installation_id }) }
    : { entity: RunEntity, key: RunEntity.key({ installation_id, id: run_id }) }
}
