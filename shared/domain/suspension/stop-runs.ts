import { AppEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { MemberEntity, WorkspaceEntity } from '../../entities/people.ts'
import { type Stoppage, StoppageEntity } from '../../entities/platform.ts'
import { RunEntity } from '../../entities/runs.ts'
import { tell } from '../../events/outbox.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { ifUnchanged, type Key, type Write } from '../../table/entity.ts'
import { keysListed } from '../../table/lists.ts'
import type { WorkerWork } from '../deps.ts'
import { orchestratorId } from '../orchestrator/principal.ts'
import { activeRunsOf } from '../runs/chain.ts'
import { finishIf } from '../runs/finish.ts'

/** How long requests that were let in before the suspension may still write. Only what is found after that was found for good. */
const STILL_WRITING = MINUTE
/** Installations in one step, and of them at once. */
const PAGE = 50
const AT_ONCE = 10

type Subject = Pick<Stoppage, 'kind' | 'id'>

/**
 * Ends the runs of what was suspended: those that wait for their turn fail with `app_suspended` or `installation_suspended`, as they
 * would at their dispatch; those under way are `cancelled`, and each tells of it.
 *
 * One step ends those of a page of installations, writes down how far it came and wakes the next one, so that an app that is installed
 * thousands of times takes many short steps. It may be woken twice, late, or stop anywhere; a second round, a minute later, finds what
 * was written meanwhile. It stops when the suspension does.
 */
export const stopRuns = async (work: WorkerWork, subject: Subject): Promise<void> => {
  const stoppage = await work.table.get(StoppageEntity, subject)
  if (!stoppage) return
  // What begins after this may begin after the suspension’s end, which nothing here waits for. It is the second round’s, if any’s.
  const asOf = work.clock.now()
  const code = await suspensionOf(work, stoppage)
  if (code === undefined) return end(work, stoppage)
  const { ids, after } = await page(work, stoppage)
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    await Promise.all(ids.slice(i, i + AT_ONCE).map((id) => stopRunsOf(work, id, code, asOf)))
  }
  if (after !== undefined) return goOn(work, stoppage, { after }, true)
  if (stoppage.round_at >= stoppage.created_at + STILL_WRITING) return end(work, stoppage)
  const now = work.clock.now()
  const due_at = Math.max(now, stoppage.created_at + STILL_WRITING)
  return goOn(work, stoppage, { after: undefined, round_at: due_at, due_at }, false)
}

/** What the sweep does about a stoppage: the second round, and a step whose message or worker was lost. */
export const handleOverdueStoppage = async (work: WorkerWork, key: Key): Promise<void> => {
  const stoppage = await work.table.getByKey(StoppageEntity, key)
  if (stoppage && stoppage.due_at <= work.clock.now()) await stopRuns(work, stoppage)
}

type Code = 'app_suspended' | 'installation_suspended'

/** @returns undefined when it is not suspended any more */
const suspensionOf = async ({ table }: WorkerWork, { kind, id, workspace_id }: Stoppage): Promise<Code | undefined> => {
  if (kind === 'app') return (await table.get(AppEntity, { id }))?.status === 'suspended' ? 'app_suspended' : undefined
  if (kind === 'workspace') {
    const status = (await table.get(WorkspaceEntity, { id }))?.status
    return status !== undefined && status !== 'active' ? 'installation_suspended' : undefined
  }
  const installation = workspace_id && (await table.get(InstallationEntity, { workspace_id, id }))
  return installation && installation.status === 'suspended' ? 'installation_suspended' : undefined
}

/** The next installations by their ids. A workspace’s people have an orchestrator each, whose installation has no record. */
const page = async ({ table }: WorkerWork, { kind, id, after }: Stoppage) => {
  if (kind === 'installation') return { ids: [id], after: undefined }
  if (kind === 'app') {
    // From the index, which lags; the second round makes up for it.
    const { items, next } = await keysListed(table, `APP#${id}#INSTALLATIONS`, { limit: PAGE, after })
    return { ids: items.map(({ sk }) => sk.slice(InstallationEntity.prefix.length)), after: next }
  }
  const at = { workspace_id: id }
  // The records in the order of their sort keys: installations, then members.
  if (after === undefined || after.startsWith(InstallationEntity.prefix)) {
    const { items, next } = await table.query(InstallationEntity, at, { limit: PAGE, after, ascending: true })
    return { ids: items.map((one: Installation) => one.id), after: next ?? MemberEntity.prefix }
  }
  const from = after === MemberEntity.prefix ? undefined : after
  const { items, next } = await table.query(MemberEntity, at, { limit: PAGE, after: from, ascending: true })
  return { ids: items.map(({ user_id }) => orchestratorId(id, user_id)), after: next }
}

const stopRunsOf = async (work: WorkerWork, installation_id: string, code: Code, asOf: number): Promise<void> => {
  for (const id of await activeRunsOf(work, installation_id)) {
    const key = { installation_id, id }
    const run = await work.table.get(RunEntity, key)
    if (run && run.created_at > asOf) continue
    // Whichever it is when it is ended: of the two, the other finds nothing to do.
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

const goOn = (
  work: WorkerWork,
  stoppage: Stoppage,
  set: Partial<Pick<Stoppage, 'round_at' | 'due_at'>> & { after: string | undefined },
  wake: boolean,
): Promise<void> => {
  const { kind, id, workspace_id, step } = stoppage
  const next = { kind, id }
  return unlessMoved(work, [
    StoppageEntity.update(
      next,
      { set: { due_at: work.clock.now() + MINUTE, ...set }, add: { step: 1 } },
      { where: asItWas(stoppage, step) },
    ),
    ...(wake
      ? [
          tell(work.clock, {
            type: 'platform.suspended',
            workspace_id: workspace_id ?? (kind === 'workspace' ? id : 'platform'),
            data: next,
          }),
        ]
      : []),
  ])
}

const end = (work: WorkerWork, stoppage: Stoppage): Promise<void> =>
  unlessMoved(work, [StoppageEntity.delete(stoppage, { where: asItWas(stoppage, stoppage.step) })])

/** Another suspension may have begun since. */
const asItWas = ({ created_at }: Stoppage, step: number) => ({ created_at, step })

/** Another worker went on from here. */
const unlessMoved = async (work: WorkerWork, writes: Write[]): Promise<void> => {
  await ifUnchanged(work.commit(writes))
}
