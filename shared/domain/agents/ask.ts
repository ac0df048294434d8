import { setTimeout as pause } from 'node:timers/promises'
import { type App, AppEntity } from '../../entities/apps.ts'
import { isActive, type Run, RunEntity, WorkspaceRunEntity } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { aside, type Work } from '../deps.ts'
import { loadRun, noSuchRun, type RunKey, signOfLife } from '../runs/change.ts'
import { finishIf } from '../runs/finish.ts'
import { newRun } from '../runs/start.ts'
import { admitCall, type CallingAgent } from './admit.ts'
import { answerOf } from './answer.ts'
import { type AgentCall, auditingRefusals, called, calling } from './audit.ts'
import { checkArguments, declaredTool } from './declared-tool.ts'

export interface AskAgent {
  agent: string
  tool: string
  arguments: Record<string, unknown>
  audience?: 'member' | 'external' | undefined
}

/** The trigger of a run by which one agent asks another. */
const TRIGGER = 'agent'

/** The run that answers, and whose it is. */
interface Asked {
  run: Run
  app: Pick<App, 'slug' | 'name'>
}

/**
 * `ask_agent`: runs the target with one of its declared tools and waits for the answer, sync or async, for as long as the
 * chain has time; then the target's run is cancelled (decisions §5). A failed target is an answer, not an error.
 * @throws the refusals of {@link admitCall}, `tool_not_offered`, `invalid_arguments`, `too_many_active_runs`,
 *   `payload_too_large`; `chain_budget_exceeded` when the time ran out; `run_already_finished` when the asking run ended
 */
export const askAgent = async (work: Work, caller: CallingAgent, ask: AskAgent): Promise<Record<string, unknown>> => {
  // Taken first, so that a repeat under the same Idempotency-Key finds the run that the first one started.
  const runId = work.id('run')
  const asked = (await askedBefore(work, caller, runId)) ?? (await begin(work, caller, ask, runId))
  return answerOf(work, asked.app, ask.tool, await ended(work, asked.run, caller.run))
}

/** The run of a request with the same Idempotency-Key that died before it answered. */
const askedBefore = async (work: Work, { workspace }: CallingAgent, id: string): Promise<Asked | undefined> => {
  const place = await work.table.get(WorkspaceRunEntity, { workspace_id: workspace.id, run_id: id })
  if (!place) return undefined
  const run = await loadRun(work, { installation_id: place.installation_id, id })
  const app = await work.table.get(AppEntity, { id: run.app_id })
  return app && { run, app }
}

/**
 * Starts the target's run: one transaction with the entry in the audit, and with a sign of life of the asking run. What that
 * waits for takes far less time than it may be silent.
 */
const begin = async (work: Work, caller: CallingAgent, ask: AskAgent, runId: string): Promise<Asked> => {
  const asking: AgentCall = { kind: 'ask_agent', agent: ask.agent, tool: ask.tool, audience: ask.audience }
  const call = calling(work, caller, asking)
  return auditingRefusals(work, call, async () => {
    const {
      target,
      chain,
      caller: shown,
    } = await admitCall(work, caller, call, async (found) => {
      checkArguments(await declaredTool(work, found, ask.tool), ask.arguments)
    })
    const { run, writes } = await newRun(
      { ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) },
      {
        installation: target.installation,
        input: ask.arguments,
        trigger: TRIGGER,
        chain,
        caller: shown,
        tool: ask.tool,
      },
    )
    const told = called(work, call, { target_run_id: run.id, chain_depth: run.chain_depth })
    await aside(work).commit([...writes, told, ...(caller.run ? [signOfLife(work, caller.run)] : [])])
    return { run, app: target.app }
  })
}

const FIRST_PAUSE = 40
const LONGEST_PAUSE = 400

/**
 * Reads the run until it has ended, ever more rarely, as long as the chain has time and the asking run goes on: whoever
 * cancels that expects what it started to stop, too.
 */
const ended = async (work: Work, asked: Run, asking: Run | undefined): Promise<Run> => {
  const refs = [asked, ...(asking ? [asking] : [])].map((run) => ({ entity: RunEntity, key: RunEntity.key(run) }))
  for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 1.3, LONGEST_PAUSE)) {
    const [run, parent] = await work.table.getAll(refs)
    if (!run) throw noSuchRun()
    if (!isActive(run.status)) return inTime(run)
    if (asking && !(parent && isActive(parent.status))) {
      await cancel(work, run)
      throw fail('run_already_finished', { message: 'The asking run ended before the answer came.' })
    }
    const left = run.chain_deadline - work.clock.now()
    if (left <= 0) return inTime(await cancel(work, run))
    await pause(Math.min(wait, left))
  }
}

/** The run as it ended: an answer that came in the last moment counts. */
const cancel = async (work: Work, key: RunKey): Promise<Run> => {
  await finishIf(aside(work), key, () => true, { status: 'cancelled' })
  return loadRun(work, key)
}

/** @throws `chain_budget_exceeded` for a run that was cancelled at its chain's end, by whoever waited or by the sweep */
const inTime = (run: Run): Run => {
  if (run.status === 'cancelled' && (run.finished_at ?? 0) >= run.chain_deadline) {
    throw fail('chain_budget_exceeded', { message: 'The agent did not answer within the chain’s 120 seconds.' })
  }
  return run
}
