import { ApprovalEntity, isActive, type Run, RunEntity } from '../../entities/runs.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import { logCall } from '../called.ts'
import type { Work, WorkerWork } from '../deps.ts'
import { handOver } from '../inline/wake.ts'
import { sendToApp } from '../listening/send.ts'
import { loadPayload } from '../payloads.ts'
import { changingRun, type RunKey, RunMoved, runWrite } from './change.ts'
import { lookAt } from './due.ts'
import { executeRequest, type Resume } from './execute-request.ts'
import { failRun, finishIf } from './finish.ts'
import { interpret, type Meaning } from './interpret.ts'
import { addSteps } from './report.ts'
import { type NewStep, withoutNulls } from './schemas.ts'
import { loadTarget, type Target } from './target.ts'

/**
 * Hands a queued run to its agent.
 *
 *     queued ──claim──► running ──200──► succeeded | failed
 *                          │ 202 ──► running, accepted: the agent completes it through the API
 *                          └ no answer ──► failed, agent_unreachable
 *
 * The claim is a conditional write, so that of any number of wake-ups one makes the call. A worker that dies after it
 * leaves a run that the sweep looks at after 45 seconds. A run of an inline agent goes to the worker of those.
 */
export const dispatchRun = async (work: WorkerWork, key: RunKey): Promise<void> => {
  const run = await work.table.get(RunEntity, key)
  if (run?.status !== 'queued') return
  const target = await loadTarget(work, run)
  if ('refused' in target) return failRun(work, key, ...target.refused)
  if (target.version.runtime_type === 'inline') return handOver(work, run)
  const claimed = await claim(work, run)
  if (claimed) await execute(work, claimed, target)
}

/**
 * Hands a run to its agent again after a decision, once per decision, if the manifest says `runtime.resume`; an inline
 * agent always goes on.
 */
export const resumeRun = async (work: WorkerWork, key: RunKey, stepId: string, tries = 0): Promise<void> => {
  const [run, approval] = await work.table.getAll([
    { entity: RunEntity, key: RunEntity.key(key) },
    { entity: ApprovalEntity, key: ApprovalEntity.key({ run_id: key.id, step_id: stepId }) },
  ] as const)
  if (run?.status !== 'running' || !approval || approval.resumed_at !== undefined) return
  const target = await loadTarget(work, run)
  if ('refused' in target) return failRun(work, key, ...target.refused)
  if (target.version.runtime_type === 'inline') return handOver(work, run)
  if (!target.version.resume) return
  const now = work.clock.now()
  const resume: Resume = {
    step_id: stepId,
    decision: approval.status === 'rejected' ? 'rejected' : 'approved',
    result: approval.result ? await loadPayload(work, approval.result) : null,
  }
  const sent = { dispatched_at: now, accepted_at: undefined, due_at: lookAt(run, now + LIMITS.agentLifeSign) }
  try {
    await work.commit([
      ApprovalEntity.update(approval, { set: { resumed_at: now } }, { where: { resumed_at: missing } }),
      runWrite(run, sent),
    ])
  } catch (error) {
    if (error instanceof ConditionFailed) return
    // The agent reported a step in the same moment: look again.
    if (error instanceof RunMoved && tries < 9) {
      await backoff(tries)
      return resumeRun(work, key, stepId, tries + 1)
    }
    throw error
  }
  await execute(work, { ...run, ...sent }, target, resume)
}

const claim = async (work: Work, run: Run): Promise<Run | undefined> => {
  const now = work.clock.now()
  const changes = {
    status: 'running' as const,
    started_at: now,
    dispatched_at: now,
    due_at: lookAt(run, now + LIMITS.agentLifeSign),
  }
  try {
    await work.commit([runWrite(run, changes)])
    return { ...run, ...changes }
  } catch (error) {
    // Somebody else was faster: it was cancelled, or claimed by another wake-up.
    if (error instanceof RunMoved) return undefined
    throw error
  }
}

const execute = async (work: Work, run: Run, target: Target, resume?: Resume): Promise<void> => {
  const request = await executeRequest(work, { run, ...target }, resume)
  const about = { kind: 'run.execute', event: 'run.execute', id: run.id } as const
  const result = await sendToApp(work, target.installation, request, about)
  logCall(work.log, 'run.execute', 'agent', result.kind === 'response', {
    run_id: run.id,
    app_id: run.app_id,
    outcome: result.kind === 'response' ? result.status : result.phase,
    duration_ms: result.durationMs,
  })
  await apply(work, run, interpret(result))
}

/** Writes down what the answer means, unless the run was ended by something else meanwhile: the first answer wins. */
const apply = async (work: Work, run: Run, meaning: Meaning): Promise<void> => {
  const sameDispatch = (now: Run): boolean => now.dispatched_at === run.dispatched_at
  switch (meaning.kind) {
    case 'accepted':
      return accept(work, run)
    case 'failed':
      return finishIf(work, run, sameDispatch, {
        status: 'failed',
        error_code: meaning.error_code,
        error_message: meaning.error_message,
      })
    case 'answer':
      return applyAnswer(work, run, meaning.answer)
  }
}

const accept = (work: Work, run: Run): Promise<void> =>
  changingRun(work, run, async (current) => {
    if (!isActive(current.status) || current.dispatched_at !== run.dispatched_at) return
    const now = work.clock.now()
    await work.commit([
      runWrite(current, {
        accepted_at: now,
        // While a person decides, the approval's own time runs instead.
        due_at: lookAt(current, current.status === 'running' ? now + LIMITS.agentSilence : undefined),
      }),
    ])
  })

const applyAnswer = async (
  work: Work,
  run: Run,
  answer: Extract<Meaning, { kind: 'answer' }>['answer'],
): Promise<void> => {
  const { steps, ...rest } = answer
  const outcome = withoutNulls(rest)
  if (outcome.error_message) outcome.error_message = outcome.error_message.slice(0, 4_000).toWellFormed()
  try {
    const last = await addAllButLast(work, run, steps ?? [])
    await finishIf(work, run, () => true, { ...outcome, steps: last })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'run_already_finished') return
    await failRun(work, run, 'agent_invalid_response', error.message)
  }
}

/** A transaction holds a bounded number of steps: what is over it goes before. */
const addAllButLast = async (work: Work, run: Run, steps: NewStep[]): Promise<NewStep[]> => {
  let rest = steps
  while (rest.length > LIMITS.stepsPerCall) {
    await addSteps(work, run, rest.slice(0, LIMITS.stepsPerCall))
    rest = rest.slice(LIMITS.stepsPerCall)
  }
  return rest
}
