import { defaultGrant, type Installation } from '#shared/access/installations/index.ts'
import { carried, emittedBy, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { storePayload } from '#shared/foundation/payloads/index.ts'
import { followedBy, type StartMessage, sendPromptly } from '#shared/foundation/queues/index.ts'
import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { idTime, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { currentTrace } from '#shared/kernel/tracing/scope.ts'
import { loadBudgets, reserveBudgets } from '../budgets/index.ts'
import { CHAIN_TIME, type ChainPosition, markActive, refuseEndedChain } from './chain.ts'
import { changedRun, type RunChange } from './change.ts'
import { createdEventId, emitRunEvent } from './emit.ts'
import { isNamedBySlot, isUnrelated, type Run, RunChildEntity, RunEntity, WorkspaceRunEntity } from './entity.ts'
import { type Following, followedCallWrites } from './followed.ts'
import { nextCheckAt } from './next-check.ts'
import { presentRun } from './present.ts'
import type { RunView } from './schemas.ts'
import { takeSlot } from './slots.ts'

export interface NewRun {
  installation: Installation
  input: Record<string, unknown>
  trigger: string
  /** Person who starts it; absent for a run started by API. */
  actor?: { id: string; name: string } | undefined
  /** Grant whose token starts it. Default: the installation's. */
  grant_id?: string | undefined
  /** Position in a chain of agents, or its read. Absent fields start with this run. */
  chain?: Partial<ChainPosition> | Promise<Partial<ChainPosition>> | undefined
  /** Agent that causes it. */
  caller?: Run['caller']
  /** Declared tool to call, with the input as its arguments. */
  tool?: string | undefined
  task_id?: string | undefined
  conversation_id?: string | undefined
  /** Message that it answers. */
  message_id?: string | undefined
  /** Person whose chat it belongs to. Default: the chain's. */
  private_to?: string | undefined
  /** Earlier run whose input it uses again. */
  repeats?: string | undefined
  /** Protocol over which its starter follows it, if any. */
  following?: Following | undefined
}

/** A run with its writes. */
export interface PreparedRun {
  run: Run
  writes: WorkWrite[]
}

/** Fields of a run that is sent to its agent for the first time. */
export const firstDispatch = (now: number) =>
  ({ status: 'running', started_at: now, dispatched_at: now }) satisfies RunChange

/**
 * Creates a run and its writes for one transaction: the record, its entries in the lists and its chain, the count of active
 * runs, and the event, which the message that dispatches the run follows. A lost message delays the run until the sweeper
 * finds it overdue (architecture.md#no-dual-writes).
 * @param isClaimed decides whether the caller sends the run to its agent as soon as it is committed. It is then created as
 *   if it had been claimed, so that no other worker sends it
 * @throws `payload_too_large`, `chain_budget_exceeded`; the writes: `too_many_active_runs`, `budget_exceeded`
 */
export const newRun = async (
  work: Work,
  start: NewRun,
  isClaimed: (queued: Run) => Promise<boolean> = async () => false,
): Promise<PreparedRun> => {
  const { installation } = start
  const [chain = {}, budgets] = await Promise.all([start.chain, loadBudgets(work, installation.workspace_id)])
  refuseEndedChain(work, chain)
  const now = work.clock.now()
  const id = work.id('run')
  const queued: Run = {
    ...stampOf(id),
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
    trace: currentTrace(),
    grant_id: start.grant_id ?? defaultGrant(installation),
    actor: start.actor ?? chain.actor,
    audience: chain.audience ?? 'member',
    caller: start.caller,
    tool: start.tool,
    task_id: start.task_id,
    conversation_id: start.conversation_id,
    message_id: start.message_id,
    private_to: start.private_to ?? chain.private_to,
    protocol: start.following?.protocol,
    followed_by: start.following?.by,
    client_message:
      start.following?.message === undefined
        ? undefined
        : await storePayload(work, `runs/${id}/message`, start.following.message),
    context: start.following?.context,
    pushes: start.following?.pushes,
    client_capabilities: start.following?.client_capabilities,
    is_detached: start.following?.detached ? true : undefined,
    parent_run_id: chain.parent_run_id,
    repeats: start.repeats,
    chain_id: chain.chain_id ?? id,
    chain_depth: chain.chain_depth ?? 0,
    chain_deadline: chain.chain_deadline ?? now + CHAIN_TIME,
    // A run that a root run starts by API continues with the root run's time.
    first_hop_at: chain.chain_depth === 0 ? chain.first_hop_at : undefined,
    chain_started_at: chain.chain_started_at ?? idTime(id),
    chain_schedules: chain.chain_schedules,
    step_count: 0,
    last_seq: 0,
    step_bytes: 0,
    stream_seq: 1,
    transitions: [{ seq: 1, status: 'queued' }],
    ends_at: now + work.settings.runLifetimeDays * DAY,
  }
  if (isUnrelated(queued) && chain.chain_started_at === undefined) queued.chain_started_at = undefined
  const reservation = reserveBudgets(work, queued, budgets)
  queued.budgets = reservation.reserved
  queued.due_at = nextCheckAt(queued, now + LIMITS.agentLifeSign)
  const emitted = carried(emitRunEvent(work, 'run.created', queued))
  const claimed = await isClaimed(queued)
  const run = claimed ? changedRun(queued, firstDispatch(Math.max(work.clock.now(), queued.created_at))) : queued
  return {
    run,
    writes: [
      RunEntity.create(run),
      takeSlot(run),
      ...reservation.writes,
      WorkspaceRunEntity.create({
        workspace_id: run.workspace_id,
        run_id: id,
        installation_id: run.installation_id,
        private_to: run.private_to,
        created_at: run.created_at,
      }),
      ...(run.parent_run_id === undefined
        ? []
        : [
            RunChildEntity.create({
              run_id: run.parent_run_id,
              child_id: id,
              installation_id: run.installation_id,
              created_at: run.created_at,
            }),
          ]),
      ...(isNamedBySlot(run) ? [] : [markActive(run)]),
      ...followedCallWrites(work, run, start.following),
      claimed ? emitted : followedBy(emitted, 'dispatch', startMessage(run, emittedBy(emitted) as OutboxEvent)),
    ],
  }
}

/**
 * Creates a run and starts it.
 * @throws `too_many_active_runs`, `budget_exceeded`, `payload_too_large`, `chain_budget_exceeded`
 */
export const startRun = async (work: Work, start: NewRun): Promise<RunView> => {
  const { run, writes } = await newRun(work, start)
  const view = await presentRun(work, run)
  await work.commit(writes, view)
  return view
}

/** Returns the message that dispatches a run, in which its `run.created` event rides. */
const startMessage = ({ version_id, grant_id, is_sandbox }: Run, event: OutboxEvent): StartMessage => ({
  kind: 'start',
  event,
  names: { version_id, grant_id, is_sandbox },
})

/** Sends the dispatch message of a run that is still queued again, because the request that created it may have died. */
export const dispatchAgain = async (work: Work, run: Run): Promise<void> => {
  if (run.status !== 'queued') return
  const event = await work.table.get(OutboxEntity, { id: createdEventId(run.id) })
  if (event) await sendPromptly(work, 'dispatch', startMessage(run, event), event)
}
