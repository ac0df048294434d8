import { CounterEntity } from '../../entities/developers.ts'
import type { Installation } from '../../entities/installations.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '../../entities/runs.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { either, lt, missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { storePayload } from '../payloads.ts'
import { CHAIN_TIME, type ChainPosition, markActive } from './chain.ts'
import { lookAt } from './due.ts'
import { presentRun } from './present.ts'
import type { RunView } from './schemas.ts'
import { tellRun } from './tell.ts'

export interface NewRun {
  installation: Installation
  input: Record<string, unknown>
  trigger: string
  /** Who started it; absent for a run started by API. */
  actor?: { id: string; name: string } | undefined
  /** Where it stands in a chain of agents; what is absent begins with it. */
  chain?: Partial<ChainPosition> | undefined
  /** The agent that caused it. */
  caller?: Run['caller']
  /** The declared tool that is called, with the input as its arguments. */
  tool?: string | undefined
  task_id?: string | undefined
  conversation_id?: string | undefined
  /** The message of a chat that it answers. */
  message_id?: string | undefined
  /** The person whose chat it belongs to; else as what caused it. */
  private_to?: string | undefined
}

/** The counter that keeps an installation's active runs at five, exactly, under any concurrency. */
const activeRuns = (installationId: string) => ({ owner: installationId, counter: 'active_runs' })

/**
 * A new run and all that belongs to it, for one transaction: the record, its place in the lists and in its chain, the count
 * of active runs, and the event that wakes the dispatcher.
 * @throws `payload_too_large`; the writes: `too_many_active_runs`
 */
export const newRun = async (work: Work, start: NewRun): Promise<{ run: Run; writes: Write[] }> => {
  const { installation, chain = {} } = start
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
    request_id: work.requestId,
    actor: start.actor ?? chain.actor,
    audience: chain.audience ?? 'member',
    caller: start.caller,
    tool: start.tool,
    task_id: start.task_id,
    conversation_id: start.conversation_id,
    message_id: start.message_id,
    private_to: start.private_to ?? chain.private_to,
    parent_run_id: chain.parent_run_id,
    chain_id: chain.chain_id ?? id,
    chain_depth: chain.chain_depth ?? 0,
    chain_deadline: chain.chain_deadline ?? now + CHAIN_TIME,
    step_count: 0,
    last_seq: 0,
    step_bytes: 0,
    stream_seq: 1,
    transitions: [{ seq: 1, status: 'queued' }],
    created_at: now,
  }
  run.due_at = lookAt(run, now + MINUTE)
  return {
    run,
    writes: [
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
        private_to: run.private_to,
        created_at: now,
      }),
      markActive(run),
      tellRun(work, 'run.created', run),
    ],
  }
}

/** Creates a run and lets it start. @throws `too_many_active_runs`, `payload_too_large` */
export const startRun = async (work: Work, start: NewRun): Promise<RunView> => {
  const { run, writes } = await newRun(work, start)
  const view = await presentRun(work, run)
  await work.commit(writes, view)
  return view
}

/** One active run less; part of every transaction that ends a run. */
export const releaseSlot = (installationId: string): Write =>
  CounterEntity.update(activeRuns(installationId), { add: { n: -1 } })
