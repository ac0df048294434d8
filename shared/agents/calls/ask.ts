import { type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import {
  dispatchAgain,
  type Following,
  isActive,
  isAwaitedByAgent,
  loadRun,
  type Run,
  signOfLife,
  WorkspaceRunEntity,
} from '#shared/work/runs/index.ts'
import { type OpenRequest, type PrepareInPlace, prepareRun } from '../waiting/index.ts'
import { type Admitted, admitCall, type CallingAgent } from './admit.ts'
import { presentAnswer } from './answer.ts'
import { type AgentCall, auditedCall, startCall, withRefusalAudit } from './audit.ts'
import { checkArguments, type FoundAgent, loadDeclaredTool } from './declared-tool.ts'
import { cancelAsked, followAsked } from './follow.ts'

export interface AskAgent {
  agent: string
  /** That agent, if the request has found it already. */
  found?: FoundAgent | undefined
  /** Declared tool. Absent for an A2A message to an agent that takes any. */
  tool?: string | undefined
  arguments: Record<string, unknown>
  audience?: 'member' | 'external' | undefined
  /** Protocol over which the caller follows the run, if any. */
  following?: Following | undefined
  /** The request sends the run to its agent itself. */
  inPlace?: PrepareInPlace | undefined
  /** Further writes of the transaction that starts the run. */
  more?(run: Run): Write[]
}

/** Trigger of a run that another agent asked for. */
const TRIGGER = 'agent'

/** The run that answers, and its agent. */
export interface Asked {
  run: Run
  agent: Pick<Installation, 'app_slug' | 'app_name'>
  /** The run's request, if this call started the run and sends it. */
  open?: OpenRequest | undefined
}

/**
 * `ask_agent`: runs one of the target's declared tools, sync or async, and waits for the answer until the chain's
 * deadline. The target's run is then cancelled (contract/agent-to-agent.md#asking-an-agent). A failed target is a valid
 * answer, not an error.
 * @throws the refusals of {@link admitCall}, `tool_not_offered`, `invalid_arguments`, `too_many_active_runs`,
 *   `payload_too_large`; `chain_budget_exceeded` after the deadline; `run_already_finished` when the asking run ended
 */
export const askAgent = async (
  work: Work,
  caller: CallingAgent,
  ask: AskAgent & { tool: string },
): Promise<Record<string, unknown>> => {
  const { run, agent, open } = await startAsked(work, caller, { ...ask, inPlace: caller.inPlace })
  try {
    return await presentAnswer(work, agent, ask.tool, await waitForEnd(work, run, caller.run, open))
  } finally {
    open?.drop()
    await open?.over
  }
}

/** Finds the run started by an earlier request with the same Idempotency-Key that died before answering. */
export const askedBefore = async (work: Work, workspaceId: string, id: string): Promise<Asked | undefined> => {
  const place = await work.table.get(WorkspaceRunEntity, { workspace_id: workspaceId, run_id: id })
  if (!place) return undefined
  const run = await loadRun(work, { installation_id: place.installation_id, id })
  const { installation_id } = place
  const [agent] = await Promise.all([
    work.table.get(InstallationEntity, { workspace_id: workspaceId, id: installation_id }),
    dispatchAgain(work, run),
  ])
  return agent && { run, agent }
}

/**
 * Starts the run that answers, or finds the one that an earlier attempt with the same Idempotency-Key started.
 * @throws the errors of {@link askAgent} before the wait
 */
export const startAsked = async (work: Work, caller: CallingAgent, ask: AskAgent): Promise<Asked> => {
  // Taken first, so that a repeat with the same Idempotency-Key finds the run that was already started.
  const runId = work.id('run')
  return (await askedBefore(work, caller.workspace.id, runId)) ?? start(work, caller, ask, runId)
}

/**
 * Audits a call of a tool that the caller isn't offered over another protocol, with the reason for which `ask_agent` would refuse
 * it. It starts nothing.
 */
export const auditUnofferedAsk = async (
  work: Work,
  caller: CallingAgent,
  { agent, tool }: Pick<AgentCall, 'agent' | 'tool'>,
): Promise<void> => {
  const call = startCall(work, caller, { kind: 'ask_agent', agent, tool })
  try {
    await withRefusalAudit(work, call, () =>
      admitCall(work, caller, call, async (target) => {
        if (tool !== undefined) await loadDeclaredTool(work, target, tool)
      }),
    )
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
  }
}

/** Position of a run that nobody waits for: as deep, and with a clock of its own, like a delegated task's. */
const ownClock = ({ chain_id: _id, chain_deadline: _deadline, first_hop_at: _hop, ...chain }: Admitted['chain']) =>
  chain

/**
 * Starts the target's run in one transaction with the audit entry and a sign of life for the asking run. The wait that
 * follows is far shorter than the time a run may stay silent.
 */
const start = async (work: Work, caller: CallingAgent, ask: AskAgent, runId: string): Promise<Asked> => {
  const asking: AgentCall = { kind: 'ask_agent', agent: ask.agent, tool: ask.tool, audience: ask.audience }
  const call = startCall(work, caller, asking)
  const attempt = async (caller: CallingAgent): Promise<Asked> => {
    const {
      target,
      chain,
      caller: shown,
    } = await admitCall(
      work,
      caller,
      call,
      async (agent) => {
        if (ask.tool !== undefined) checkArguments(await loadDeclaredTool(work, agent, ask.tool), ask.arguments)
      },
      ask.found,
    )
    const { run, writes, send } = await prepareRun(
      ask.inPlace,
      { ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) },
      {
        installation: target.installation,
        input: ask.arguments,
        trigger: ask.following?.protocol ?? TRIGGER,
        chain: ask.following?.detached ? ownClock(chain) : chain,
        following: ask.following,
        caller: shown,
        tool: ask.tool,
      },
    )
    const audited = auditedCall(work, call, { target_run_id: run.id, chain_depth: run.chain_depth })
    await withoutAnswer(work).commit([
      ...writes,
      ...(ask.more?.(run) ?? []),
      audited,
      ...(caller.run ? [hopWrite(work, caller.run, run, chain)] : []),
    ])
    return { run, agent: target.installation, open: send?.() }
  }
  return withRefusalAudit(work, call, async () => {
    try {
      return await attempt(caller)
    } catch (error) {
      if (!(error instanceof LaterHop)) throw error
      return await attempt({ ...caller, run: error.asking })
    }
  })
}

/** Error for a question that was the first of its root run until another one was faster, which set the chain's deadline. */
class LaterHop extends Error {
  readonly asking: Run
  constructor(asking: Run) {
    super('another question of the run was its first')
    this.asking = asking
  }
}

/** Sign of life of the asking run. The chain's time begins once, with a root run's first question that it waits for. */
const hopWrite = (work: Work, asking: Run, asked: Run, { first_hop_at }: Admitted['chain']): Write => {
  const begins = isAwaitedByAgent(asked) && asking.chain_depth === 0 && asking.first_hop_at === undefined
  const write = signOfLife(work, asking, begins ? { first_hop_at } : {})
  if (!begins) return write
  return {
    ...write,
    where: { ...write.where, first_hop_at: missing },
    otherwise: (current: Run | undefined) =>
      current?.first_hop_at === undefined ? write.otherwise?.(current as never) : new LaterHop(current),
  }
}

/**
 * Waits until the run ends, the chain's deadline passes, a call can't wait any longer or the asking run ends. The edge would
 * give up on a call that waited for the whole time of a chain, and its caller would never learn what became of the run.
 */
const waitForEnd = async (work: Work, asked: Run, asking: Run | undefined, open?: OpenRequest): Promise<Run> => {
  let last = asked
  const until = Math.min(asked.chain_deadline, work.clock.now() + LIMITS.agentWait)
  const left = () => until - work.clock.now()
  for await (const run of followAsked(work, asked, { asking, left, open })) last = run
  const ended = isActive(last.status) ? await cancelAsked(work, last) : last
  // An earlier attempt of the same request may have waited as long.
  return inTime(ended, Math.min(until, asked.created_at + LIMITS.agentWait))
}

/**
 * @param until end of the wait for the run
 * @throws `chain_budget_exceeded` for a run cancelled at the end of the wait or of its chain, by the waiting request or the
 *   sweeper
 */
export const inTime = (run: Run, until: number = run.chain_deadline): Run => {
  if (run.status === 'cancelled' && (run.finished_at ?? 0) >= until) {
    throw fail('chain_budget_exceeded', { message: 'The agent didn’t answer within the chain’s 120 seconds.' })
  }
  return run
}
