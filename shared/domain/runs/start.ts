import { CounterEntity } from '../../entities/developers.ts'
import type { Installation } from '../../entities/installations.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '../../entities/runs.ts'
import { MINUTE, SECOND } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { either, lt, missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { storePayload } from '../payloads.ts'
import { presentRun } from './present.ts'
import type { RunView } from './schemas.ts'
import { tellRun } from './tell.ts'

/** Specification "Limits": a chain of agents has 120 seconds. */
const CHAIN_TIME = 120 * SECOND

export interface StartRunInput {
  installation: Installation
  input: Record<string, unknown>
  trigger: string
  /** Who started it; absent for a run started by API. */
  actor?: { id: string; name: string } | undefined
  /** The run inside which an agent starts this one: the new run continues its chain. */
  parent?: Run | undefined
}

/** The counter that keeps an installation's active runs at five, exactly, under any concurrency. */
const activeRuns = (installationId: string) => ({ owner: installationId, counter: 'active_runs' })

/**
 * Creates a run and lets it start: the record, its place in the lists, the count of active runs and the event that wakes
 * the dispatcher are one transaction.
 * @throws `too_many_active_runs`, `payload_too_large`
 */
export const startRun = async (work: Work, start: StartRunInput): Promise<RunView> => {
  const { installation, parent } = start
  const now = work.clock.now()
  const id = work.id('run')
  const run: Run = {
    id,
    installation_id: installation.id,
    workspace_id: installation.workspace_id,
    app_id: installation.app_id,
    agent_id: installation.agent_id,
    version: installation.version,
    version_id: installation.version_id,
    status: 'queued',
    trigger: start.trigger,
    input: await storePayload(work, `runs/${id}/input`, start.input),
    is_sandbox: installation.is_sandbox,
    actor: start.actor,
    audience: parent?.audience ?? 'member',
    parent_run_id: parent?.id,
    chain_id: parent?.chain_id ?? id,
    chain_depth: parent?.chain_depth ?? 0,
    chain_deadline: parent?.chain_deadline ?? now + CHAIN_TIME,
    step_count: 0,
    last_seq: 0,
    step_bytes: 0,
    created_at: now,
    due_at: now + MINUTE,
  }
  const view = await presentRun(work, run)
  await work.commit(
    [
      RunEntity.create(run),
      CounterEntity.upsert(
        activeRuns(installation.id),
        { set: activeRuns(installation.id), add: { n: 1 } },
        { where: { n: either(missing, lt(LIMITS.activeRuns)) }, otherwise: () => fail('too_many_active_runs') },
      ),
      WorkspaceRunEntity.create({
        workspace_id: run.workspace_id,
        run_id: id,
        installation_id: run.installation_id,
        created_at: now,
      }),
      tellRun(work, 'run.created', run),
    ],
    view,
  )
  return view
}

/** One active run less; part of every transaction that ends a run. */
export const releaseSlot = (installationId: string): Write =>
  CounterEntity.update(activeRuns(installationId), { add: { n: -1 } })
