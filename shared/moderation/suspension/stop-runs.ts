import { type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { orchestratorId } from '#shared/access/orchestrator/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { MemberEntity, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { listKeys } from '#shared/table/lists.ts'
import { finishIf, listActiveRuns, RunEntity } from '#shared/work/runs/index.ts'
import { type Stoppage, StoppageEntity } from './entity.ts'
import type { SuspensionEventType } from './events.ts'

/**
 * Time for which requests admitted before the suspension may still write. Only a round that starts later finds
 * everything.
 */
const STILL_WRITING = MINUTE

/** Installations processed per step. `AT_ONCE` of them are processed in parallel. */
const PAGE = 50
const AT_ONCE = 10

type Subject = Pick<Stoppage, 'kind' | 'id'>

/**
 * Ends the runs of a suspended subject. Queued runs fail with `app_suspended` or `installation_suspended`, as they
 * would at dispatch. Active runs become `cancelled`, each with its event.
 *
 * One step handles a page of installations, saves its position and wakes the next step. An app with thousands of
 * installations therefore takes many short steps. A step may be woken twice, run late, or stop anywhere. A second
 * round, a minute later, finds what was written in the meantime. The work stops when the suspension ends.
 */
export const stopRuns = async (work: WorkerWork, subject: Subject): Promise<void> => {
  const stoppage = await work.table.get(StoppageEntity, subject)
  if (!stoppage) return
  // Runs created after this may belong to the time after the suspension. The second round, if any, handles them.
  const asOf = work.clock.now()
  const code = await suspensionOf(work, stoppage)
  if (code === undefined) return endStoppage(work, stoppage)
  const { ids, after } = await nextPage(work, stoppage)
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    await Promise.all(ids.slice(i, i + AT_ONCE).map((id) => stopRunsOf(work, id, code, asOf)))
  }
  if (after !== undefined) return continueStoppage(work, stoppage, { after }, true)
  if (stoppage.round_at >= stoppage.began_at + STILL_WRITING) return endStoppage(work, stoppage)
  const now = work.clock.now()
  const due_at = Math.max(now, stoppage.began_at + STILL_WRITING)
  return continueStoppage(work, stoppage, { after: undefined, round_at: due_at, due_at }, false)
}

/** Handles an overdue stoppage: the second round, or a step whose message or worker was lost. */
export const handleOverdueStoppage = async (work: WorkerWork, key: Key): Promise<void> => {
  const stoppage = await work.table.getByKey(StoppageEntity, key)
  if (stoppage && stoppage.due_at <= work.clock.now()) await stopRuns(work, stoppage)
}

type Code = 'app_suspended' | 'installation_suspended'

/** Returns the error code of the suspension, or undefined if the subject is no longer suspended. */
const suspensionOf = async ({ table }: WorkerWork, { kind, id, workspace_id }: Stoppage): Promise<Code | undefined> => {
  if (kind === 'app') return (await table.get(AppEntity, { id }))?.status === 'suspended' ? 'app_suspended' : undefined
  if (kind === 'workspace') {
    const status = (await table.get(WorkspaceEntity, { id }))?.status
    return status !== undefined && status !== 'active' ? 'installation_suspended' : undefined
  }
  const installation = workspace_id && (await table.get(InstallationEntity, { workspace_id, id }))
  return installation && installation.status === 'suspended' ? 'installation_suspended' : undefined
}

/**
 * Returns the ids of the next installations. Each person in a workspace also has an orchestrator, whose installation
 * has no record.
 */
const nextPage = async ({ table }: WorkerWork, { kind, id, after }: Stoppage) => {
  if (kind === 'installation') return { ids: [id], after: undefined }
  if (kind === 'app') {
    // Reads the index, which lags. The second round finds what it misses.
    const { items, next } = await listKeys(table, `APP#${id}#INSTALLATIONS`, { limit: PAGE, after })
    return { ids: items.map(({ sk }) => sk.slice(InstallationEntity.prefix.length)), after: next }
  }
  const at = { workspace_id: id }
  // Records come in the order of their sort keys: installations, then members.
  if (after === undefined || after.startsWith(InstallationEntity.prefix)) {
    const { items, next } = await table.query(InstallationEntity, at, { limit: PAGE, after, ascending: true })
    return { ids: items.map((one: Installation) => one.id), after: next ?? MemberEntity.prefix }
  }
  const from = after === MemberEntity.prefix ? undefined : after
  const { items, next } = await table.query(MemberEntity, at, { limit: PAGE, after: from, ascending: true })
  return { ids: items.map(({ user_id }) => orchestratorId(id, user_id)), after: next }
}

const stopRunsOf = async (work: WorkerWork, installation_id: string, code: Code, asOf: number): Promise<void> => {
  for (const id of await listActiveRuns(work, installation_id)) {
    const key = { installation_id, id }
    const run = await work.table.get(RunEntity, key)
    if (run && run.created_at > asOf) continue
    // The status may change before the run is ended. Of the two calls, the one that does not apply has no effect.
    if (run?.status === 'queued') {
      await finishIf(work, key, ({ status }) => status === 'queued', {
        status: 'failed',
        error_code: code,
        error_message: code === 'app_suspended' ? 'The integration is suspended.' : 'The installation is suspended.',
      })
    }
    await finishIf(work, key, ({ status }) => status !== 'queued', { status: 'cancelled' })
  }
}

const continueStoppage = (
  work: WorkerWork,
  stoppage: Stoppage,
  set: Partial<Pick<Stoppage, 'round_at' | 'due_at'>> & { after: string | undefined },
  wake: boolean,
): Promise<void> => {
  const { kind, id, workspace_id, step } = stoppage
  const next = { kind, id }
  return commitUnlessMoved(work, [
    StoppageEntity.update(
      next,
      { set: { due_at: work.clock.now() + MINUTE, ...set }, add: { step: 1 } },
      { where: sameStep(stoppage, step) },
    ),
    ...(wake
      ? [
          emitEvent<SuspensionEventType>(work.clock, {
            type: 'platform.suspended',
            workspace_id: workspace_id ?? (kind === 'workspace' ? id : 'platform'),
            data: next,
          }),
        ]
      : []),
  ])
}

const endStoppage = (work: WorkerWork, stoppage: Stoppage): Promise<void> =>
  commitUnlessMoved(work, [StoppageEntity.delete(stoppage, { where: sameStep(stoppage, stoppage.step) })])

/** Condition that fails if another suspension has begun since. */
const sameStep = ({ began_at }: Stoppage, step: number) => ({ began_at, step })

/** Commits the writes unless another worker has already continued from here. */
const commitUnlessMoved = async (work: WorkerWork, writes: Write[]): Promise<void> => {
  await ifUnchanged(work.commit(writes))
}
