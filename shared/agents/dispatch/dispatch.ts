import { defaultGrant } from '#shared/access/installations/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import { type Work, type WorkerWork, withoutAnswer } from '#shared/foundation/work/index.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { continueTrace, describeSpan } from '#shared/kernel/tracing/scope.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { askInput, loadAnswers, takeUnsentAnswers } from '#shared/work/questions/index.ts'
import {
  type Approval,
  ApprovalEntity,
  addSteps,
  changedRun,
  changeRun,
  failRun,
  finishIf,
  firstDispatch,
  isActive,
  isWaitingForInput,
  type NewStep,
  newRun,
  nextCheckAt,
  type Run,
  RunEntity,
  type RunKey,
  runWrite,
  withoutNulls,
} from '#shared/work/runs/index.ts'
import { recordExchange } from '../exchanges/index.ts'
import { wakeInlineWorker } from '../inline/wake.ts'
import type { Listener } from '../outgoing/entity.ts'
import { findListener } from '../outgoing/lease.ts'
import { logCall } from '../outgoing/log-call.ts'
import { sendToApp } from '../outgoing/send.ts'
import { answerOutside, type OutsideTask, startOutsideRun, takeForAnswer } from '../outside/index.ts'
import { endRefusedRun, loadTarget, readTargetAhead } from '../targets/target.ts'
import type { Target } from '../targets/types.ts'
import type { PrepareInPlace } from '../waiting/index.ts'
import { buildExecuteRequest, type Resume } from './execute-request.ts'
import { type AnswerEffect, interpretAnswer } from './interpret.ts'
import { attemptOf, awaitsRetry, pauseAfter, retryLater, wakeDispatcher, withAttempts } from './retry.ts'

/**
 * Sends a queued run to its agent.
 *
 *     queued ──claim──► running ──200──► succeeded | failed
 *                          │ 202 ──► running, accepted: the agent completes it through the API
 *                          │ not received ──► running, sent again if the manifest has `runtime.retry`
 *                          └ no answer ──► failed, agent_unreachable
 *
 * The claim is a conditional write, so only one worker makes the call, however many are woken. If a worker dies after
 * claiming, the sweeper checks the run after 45 seconds. Runs of inline agents go to their own worker,
 * and those of outside A2A agents go out as messages.
 * @param named what the run refers to, so that one call reads all of it
 */
export const dispatchRun = async (work: WorkerWork, key: RunKey, named?: RunNames): Promise<void> => {
  const wakes = wakesOf(work)
  const reading = named && readAhead(work, named)
  const run = await work.table.get(RunEntity, key)
  if (run?.status !== 'queued' && !(run && awaitsRetry(run))) return
  const early = (run.retry_at ?? 0) - work.clock.now()
  if (early > 0) return wakes.again(run, early)
  continueTrace(run.trace)
  describeSpan({ 'platform.run_id': run.id })
  const ahead = named && NAMES.every((name) => named[name] === run[name]) ? reading : undefined
  const [target, listener] = await Promise.all([
    loadTarget(work, run, ahead?.target),
    ahead?.listener ?? findListener(work, run),
  ])
  if ('refused' in target) return endRefusedRun(work, key, target)
  if (target.version.runtime_type === 'inline') return wakes.inline(run)
  if (target.version.runtime_type === 'a2a') return startOutsideRun(work, run, target)
  const claimed = await claim(work, run)
  if (claimed) await execute(work, claimed, target, wakes, { listener }, await loadResume(work, claimed))
}

/** Capabilities of an endpoint that runs in place: it sends the run to its agent, and the run’s events to the fan-out. */
export const NEEDS_IN_PLACE: readonly Capability[] = [
  'objects:read',
  'objects:write',
  'queue:dispatch',
  'queue:fanout',
  'keys:callback',
  'keys:data',
  'outgoing',
]

/**
 * Creates a run that the request that waits for it sends to its agent itself: one hop instead of a queue and a worker. The target
 * is read first, so that the run is created `running` and needs no claim. If the request dies, the sweeper finds it like a run
 * whose dispatcher died. The dispatcher gets the runs of inline agents and of outside A2A agents, those that can't be sent,
 * and further attempts.
 */
export const newRunInPlace: PrepareInPlace = async (work, start) => {
  const { id: installation_id, workspace_id, app_id, version_id, is_sandbox } = start.installation
  const grant_id = start.grant_id ?? defaultGrant(start.installation)
  const reading = readAhead(work, { installation_id, workspace_id, app_id, version_id, is_sandbox, grant_id })
  let target: Target | undefined
  const { run, writes } = await newRun(work, start, async (queued) => {
    const found = await loadTarget(work, queued, reading.target)
    target = 'refused' in found || found.version.runtime_type !== 'webhook' ? undefined : found
    return target !== undefined
  })
  if (!target) return { run, writes }
  const to = target
  const listener = await reading.listener
  return {
    run,
    writes,
    send: () => {
      const dropped = new AbortController()
      const again: Wakes['again'] = (failed, delayMs) => wakeDispatcher(work, failed, delayMs)
      return {
        over: execute(withoutAnswer(work), run, to, { again, signal: dropped.signal }, { listener }).catch((error) =>
          work.log.error('a run is left to the sweeper', { run_id: run.id, error }),
        ),
        drop: () => dropped.abort(),
      }
    },
  }
}

/** Ways of bringing a run to a worker. */
interface Wakes {
  /** Worker of an inline agent. */
  inline(run: Run): Promise<void>
  again(run: Run, delayMs: number): Promise<void>
  /** Worker that may call outside A2A agents. Without it, the queue's worker does. */
  worker?: WorkerWork
  /** Aborted when the agent's answer no longer counts. */
  signal?: AbortSignal | undefined
}

const wakesOf = (work: WorkerWork): Wakes => ({
  inline: (run) => wakeInlineWorker(work, run),
  again: (run, delayMs) => wakeDispatcher(work, run, delayMs),
  worker: work,
})

/** For a request whose queue message for the run is on its way. The sweeper starts further attempts. */
const leaveToQueue: Wakes = { inline: async () => {}, again: async () => {} }

const NAMES = ['workspace_id', 'installation_id', 'app_id', 'version_id', 'grant_id', 'is_sandbox'] as const

/** Fields of a run by which everything is found that its dispatch reads. */
type RunNames = Pick<Run, (typeof NAMES)[number]>

const readAhead = (work: Work, named: RunNames) => {
  const listener = findListener(work, named)
  // The read of the run fails, too.
  listener.catch(() => {})
  return { target: readTargetAhead(work, named), listener }
}

/**
 * Sends a run to its agent again after a decision or the last answer, once each, if the manifest declares `runtime.resume`. Inline
 * agents always resume.
 */
export const resumeRun = (work: WorkerWork, key: RunKey, stepId: string): Promise<void> =>
  resume(work, key, stepId, wakesOf(work))

/** Does the same in a request that waits for the run. The queue's message for it is on its way, too. */
export const resumeAwaitedRun = (work: Work, key: RunKey, stepId: string): Promise<void> =>
  resume(withoutAnswer(work), key, stepId, leaveToQueue)

const resume = async (work: Work, key: RunKey, stepId: string, wakes: Wakes): Promise<void> => {
  const claimed = await retryOnConflict(() => claimResumption(work, key, stepId, wakes))
  if (!claimed) return
  if (claimed.outside && wakes.worker)
    await answerOutside(wakes.worker, claimed.run, claimed.target, claimed.outside, claimed.resume)
  else await execute(work, claimed.run, claimed.target, wakes, claimed, claimed.resume)
}

interface Resumption {
  run: Run
  target: Target
  listener: Listener | undefined
  resume: Resume
  outside?: OutsideTask | undefined
}

/** @returns undefined when another worker resumed the run or its agent doesn't expect a request */
const claimResumption = async (
  work: Work,
  key: RunKey,
  stepId: string,
  wakes: Wakes,
): Promise<Resumption | undefined> => {
  const [run, approval] = await work.table.getAll([
    RunEntity.ref(key),
    ApprovalEntity.ref({ run_id: key.id, step_id: stepId }),
  ] as const)
  if (run?.status !== 'running') return undefined
  continueTrace(run.trace)
  describeSpan({ 'platform.run_id': run.id })
  const isDecision = approval !== undefined
  if (isDecision ? approval.resumed_at !== undefined : isWaitingForInput(run)) return undefined
  const [target, listener] = await Promise.all([loadTarget(work, run), findListener(work, run)])
  if ('refused' in target) {
    await endRefusedRun(work, key, target)
    return undefined
  }
  if (target.version.runtime_type === 'inline') {
    await wakes.inline(run)
    return undefined
  }
  if (!target.version.resume) return undefined
  const isOutside = target.version.runtime_type === 'a2a'
  if (isOutside && !wakes.worker) return undefined
  const outside = isOutside ? await takeForAnswer(work, run) : undefined
  if (isOutside && !outside) return undefined
  const now = work.clock.now()
  const answers = isWaitingForInput(run) ? undefined : await takeUnsentAnswers(work, run)
  if (!isDecision && !answers) return undefined
  const resume: Resume = {
    step_id: isDecision ? stepId : (answers?.step_id ?? stepId),
    ...(isDecision && (await decisionOf(work, approval))),
    ...(answers && { input: answers.input }),
  }
  const sent = {
    dispatched_at: now,
    accepted_at: undefined,
    attempt: undefined,
    retry_at: undefined,
    // Stored for agents that may get it again.
    ...(target.version.max_attempts !== undefined && {
      resumed_with: { step_id: resume.step_id, is_decision: isDecision, answered: answers?.steps ?? [] },
    }),
    due_at: nextCheckAt(run, now + LIMITS.agentLifeSign),
  }
  // Conditional, because the agent may report a step at the same moment.
  await work.commit([
    ...(isDecision
      ? [ApprovalEntity.update(approval, { set: { resumed_at: now } }, { where: { resumed_at: missing } })]
      : []),
    ...(answers?.writes ?? []),
    ...(outside?.writes ?? []),
    runWrite(run, sent),
  ])
  return { run: changedRun(run, sent), target, listener, resume, outside: outside?.task }
}

const decisionOf = async (work: Work, { status, result, receipt }: Approval) => ({
  decision: status === 'rejected' ? ('rejected' as const) : ('approved' as const),
  result: result ? await loadPayload(work, result) : null,
  receipt: receipt ?? null,
})

/** Loads the decision or answers that the run's latest request carried, for another attempt. */
const loadResume = async (work: Work, { id, resumed_with }: Run): Promise<Resume | undefined> => {
  if (!resumed_with) return undefined
  const { step_id, is_decision, answered } = resumed_with
  const [approval, input] = await Promise.all([
    is_decision ? work.table.get(ApprovalEntity, { run_id: id, step_id }) : undefined,
    answered.length > 0 ? loadAnswers(work, id, answered) : undefined,
  ])
  return { step_id, ...(approval && (await decisionOf(work, approval))), ...(input && { input }) }
}

const claim = async (work: Work, run: Run): Promise<Run | undefined> => {
  const now = work.clock.now()
  if (run.status !== 'queued') {
    const again = {
      dispatched_at: now,
      attempt: attemptOf(run) + 1,
      retry_at: undefined,
      due_at: nextCheckAt(run, now + LIMITS.agentLifeSign),
    }
    return (await ifUnchanged(work.commit([runWrite(run, again)]))) ? changedRun(run, again) : undefined
  }
  // The check of the queued run stays due. If it comes too early for the sent one, the sweeper postpones it. Moving it here
  // would write the index of overdue work twice for every run. Only a run whose check the sweeper had postponed is due later.
  const checkAt = nextCheckAt(run, now + LIMITS.agentLifeSign)
  const isLate = run.due_at !== undefined && checkAt !== undefined && run.due_at > checkAt
  const changes = { ...firstDispatch(now), ...(isLate && { due_at: checkAt }) }
  // Fails if the run was cancelled or claimed by another worker.
  return (await ifUnchanged(work.commit([runWrite(run, changes)]))) ? changedRun(run, changes) : undefined
}

const execute = async (
  work: Work,
  run: Run,
  target: Target,
  wakes: Pick<Wakes, 'again' | 'signal'>,
  { listener }: { listener: Listener | undefined },
  resume?: Resume,
): Promise<void> => {
  const request = await buildExecuteRequest(work, { run, ...target }, resume)
  const counted = run.attempt !== undefined && { attempt: run.attempt }
  const about = {
    kind: 'run.execute',
    event: 'run.execute',
    id: run.id,
    version: run.version,
    ...counted,
    ...(run.conversation_id !== undefined && { conversation: run.conversation_id }),
  } as const
  const droppable = { ...request, signal: wakes.signal }
  const result = await sendToApp(work, target.installation, droppable, about, { listener })
  logCall(work.log, 'run.execute', 'agent', result.kind === 'response', {
    run_id: run.id,
    app_id: run.app_id,
    outcome: result.kind === 'response' ? result.status : result.phase,
    duration_ms: result.durationMs,
    ...counted,
  })
  await recordExchange(work, run, target, request, result)
  if (result.kind === 'failure' && result.phase === 'dropped') return
  const pause = pauseAfter(result, attemptOf(run), work.clock.now())
  const goesOn = pause !== undefined && (await retryLater(work, run, target.version, pause, () => true, wakes.again))
  if (goesOn) return
  await apply(work, run, interpretAnswer(result), target)
}

/**
 * Applies the agent's answer unless the run has ended in the meantime. The first answer wins.
 * @param run the run as it was sent, which mostly nobody has changed since
 */
const apply = async (work: Work, run: Run, meaning: AnswerEffect, target: Target): Promise<void> => {
  const sameDispatch = (now: Run): boolean => now.dispatched_at === run.dispatched_at
  switch (meaning.kind) {
    case 'accepted':
      return accept(work, run)
    case 'failed':
      return finishIf(
        work,
        run,
        sameDispatch,
        {
          status: 'failed',
          error_code: meaning.error_code,
          error_message: withAttempts(meaning.error_message, run),
        },
        run,
      )
    case 'answer':
      return meaning.answer.status === 'input_required'
        ? applyQuestions(work, run, meaning.answer, target)
        : applyAnswer(work, run, meaning.answer)
  }
}

const accept = (work: Work, run: Run): Promise<void> =>
  changeRun(
    work,
    run,
    async (current) => {
      if (!isActive(current.status) || current.dispatched_at !== run.dispatched_at) return
      const now = work.clock.now()
      await work.commit([
        runWrite(current, {
          accepted_at: now,
          // While the run waits for a decision, the approval's own timeout applies instead.
          due_at: nextCheckAt(
            current,
            current.status === 'running' && !isWaitingForInput(current) ? now + LIMITS.agentSilence : undefined,
          ),
        }),
      ])
    },
    run,
  )

type Answer = Extract<AnswerEffect, { kind: 'answer' }>['answer']

/** Asks the person who started the run. The answers go out with run.execute, so the agent must take it again. */
const applyQuestions = async (
  work: Work,
  run: Run,
  { input_requests, steps }: Extract<Answer, { status: 'input_required' }>,
  { version }: Target,
): Promise<void> => {
  if (!version.resume) {
    const message = 'The agent answered input_required, which needs runtime.resume: true in its manifest.'
    return failRun(work, run, 'agent_invalid_response', message)
  }
  try {
    const last = await addAllButLast(work, run, steps ?? [])
    await askInput(work, run, { questions: input_requests, steps: last })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'run_already_finished') return
    const fields = Object.entries((error.details?.fields ?? {}) as Record<string, string[]>)
    const [problem] = fields.map(([field, texts]) => `${field} ${texts.join(', ')}`)
    await failRun(work, run, 'agent_invalid_response', problem ?? error.message)
  }
}

const applyAnswer = async (
  work: Work,
  run: Run,
  answer: Exclude<Answer, { status: 'input_required' }>,
): Promise<void> => {
  const { steps, ...rest } = answer
  const outcome = withoutNulls(rest)
  if (outcome.error_message) outcome.error_message = outcome.error_message.slice(0, 4_000).toWellFormed()
  try {
    const last = await addAllButLast(work, run, steps ?? [])
    const known = last === steps || !steps ? run : undefined
    await finishIf(work, run, () => true, { ...outcome, steps: last }, known)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'run_already_finished') return
    await failRun(work, run, 'agent_invalid_response', error.message)
  }
}

/** Adds the steps that exceed one transaction's limit, and returns the rest. */
const addAllButLast = async (work: Work, run: Run, steps: NewStep[]): Promise<NewStep[]> => {
  let rest = steps
  while (rest.length > LIMITS.stepsPerCall) {
    await addSteps(work, run, rest.slice(0, LIMITS.stepsPerCall))
    rest = rest.slice(LIMITS.stepsPerCall)
  }
  return rest
}
