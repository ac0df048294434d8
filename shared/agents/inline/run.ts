import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadManifest } from '#shared/catalogue/versions/index.ts'
import { causedBy } from '#shared/foundation/outbox/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { LanguageModel, ModelAnswer, ModelFailure } from '#shared/kernel/ports/language-model.ts'
import type { RunErrorCode } from '#shared/kernel/run-errors.ts'
import type { TokenUsage } from '#shared/kernel/token-usage.ts'
import { agentSpan, modelSpan, turnAttributes } from '#shared/kernel/tracing/gen-ai.ts'
import { continueTrace, describeSpan, inSpan } from '#shared/kernel/tracing/scope.ts'
import { Superseded } from '#shared/table/entity.ts'
import {
  addUsage,
  failRun,
  isActive,
  isWaitingForInput,
  type Run,
  RunEntity,
  type RunKey,
  raiseBudgets,
} from '#shared/work/runs/index.ts'
import { logCall } from '../outgoing/log-call.ts'
import { endRefusedRun, loadTarget } from '../targets/target.ts'
import type { Target } from '../targets/types.ts'
import { loadTurns, messagesOf, storeTurn, type Turn } from './conversation.ts'
import { startDraft } from './draft.ts'
import type { InlineRun } from './entity.ts'
import { releaseLease, startInlineRun, takeOverInlineRun, withLease } from './lease.ts'
import { failRunWithModelError, succeedRun } from './outcome.ts'
import { loadPrompt } from './prompt.ts'
import { SAMPLE_MODEL, sampleModel } from './sample-model.ts'
import { type CheckArguments, executeCall, listOfferedTools } from './tools.ts'
import { wakeInlineWorker } from './wake.ts'

type Inline = Extract<Manifest['runtime'], { type: 'inline' }>

/**
 * Runs an inline agent on the language model (contract/runs.md#inline-agents), or continues a run where the last worker
 * stopped.
 *
 *     queued ──begin──► running ──turn──► tool calls ──► turn ──► … ──► succeeded
 *                          ▲                  │ needs approval
 *                          └──decision── awaiting_approval, and no worker meanwhile; the same while a question is open
 *
 * Every turn and call is stored before the next one, so that the next worker can continue from the records. Of several
 * workers, one continues. Waking late, or by the sweeper, has the same result.
 */
export const runInline = async (work: WorkerWork, key: RunKey, check: CheckArguments): Promise<void> => {
  const begun = performance.now()
  for (;;) {
    const run = await work.table.get(RunEntity, key)
    if ((run?.status !== 'queued' && run?.status !== 'running') || isWaitingForInput(run)) return
    continueTrace(run.trace)
    const target = await loadTarget(work, run)
    if ('refused' in target) return endRefusedRun(work, key, target)
    const manifest = await loadManifest(work, target.version)
    if (manifest.runtime.type !== 'inline') return
    const record =
      run.status === 'queued'
        ? await startInlineRun(work, run, await loadPrompt(work, run, manifest))
        : await takeOverInlineRun(work, run)
    if (!record) return
    const shift: Shift = { work, key, runtime: manifest.runtime, check, begun }
    try {
      // A decision that arrived while the run was still held woke a worker that found it taken, so look again.
      const { name, attributes } = agentSpan({
        id: run.app_id,
        name: target.installation.app_name,
        version: run.version,
        conversation: run.conversation_id,
      })
      const about = { ...attributes, 'platform.run_id': run.id }
      const act = () => causedBy(run, () => withLease(work, run, (lost) => goOn(shift, record, lost)))
      if ((await inSpan(name, 'internal', about, act)) !== 'waits') return
    } catch (error) {
      if (error instanceof Superseded) return
      if (!(error instanceof PlatformError)) throw error
      if (error.code === 'run_already_finished') return
      if (error.code !== 'too_many_steps') throw error
      return failRun(work, key, error.code, error.message)
    }
  }
}

/** State of one worker while it holds the run. */
interface Shift {
  work: WorkerWork
  key: RunKey
  runtime: Inline
  check: CheckArguments
  /** Start of the worker, from `performance.now()`. */
  begun: number
}

/** Takes turns and makes calls until the run ends, waits for a person, or the worker runs out of time. */
const goOn = async (shift: Shift, record: InlineRun, lost: AbortSignal): Promise<'waits' | undefined> => {
  const { work, key } = shift
  const prompt = (await loadPayload(work, record.prompt)) as string
  const turns = await loadTurns(work, key.id)
  let used = record.usage
  while (!lost.aborted) {
    const now = await loadStanding(work, key)
    if (!now) return undefined
    if (performance.now() - shift.begun > LIMITS.inlineShift) {
      await releaseLease(work, now.run)
      await wakeInlineWorker(work, now.run)
      return undefined
    }
    const turn = turns.at(-1)
    const place = turn?.results.indexOf(undefined) ?? -1
    if (turn && place >= 0) {
      const called = await executeCall(work, now, turn, place, shift.check)
      if (called.kind === 'waits') {
        await releaseLease(work, now.run)
        return 'waits'
      }
      turn.results[place] = called.text
      continue
    }
    if (!(await keepWithinBudgets(work, key, used))) return undefined
    const answer = await takeTurn(shift, now, prompt, turns, lost)
    if (lost.aborted) return undefined
    if (answer.kind === 'answer') used = addUsage(used, answer.usage)
    if (answer.kind !== 'answer' || answer.calls.length === 0 || unusableTurn(shift.runtime, turns, answer)) {
      await endWith(shift, turns, used, answer)
      return undefined
    }
    turns.push(await storeTurn(work, now.run, used, turns.length + 1, answer))
  }
  return undefined
}

/** Reserves what the next turn may use. Fails the run if a budget doesn't cover it. @returns false if it failed */
const keepWithinBudgets = async (work: WorkerWork, key: RunKey, used: TokenUsage): Promise<boolean> => {
  try {
    await raiseBudgets(work, key, used)
    return true
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'budget_exceeded') throw error
    await failRunWithModelError(work, key, used, 'budget_exceeded', { message: error.message })
    return false
  }
}

/** Ends the run after its last turn. */
const endWith = (
  { work, key, runtime }: Shift,
  turns: readonly Turn[],
  used: TokenUsage,
  answer: Awaited<ReturnType<LanguageModel['turn']>>,
): Promise<void> => {
  if (answer.kind === 'not_configured') return failRun(work, key, ...NOT_CONFIGURED)
  if (answer.kind === 'failure') return failRunWithModelError(work, key, used, 'llm_error', answer)
  const unusable = unusableTurn(runtime, turns, answer)
  return unusable
    ? failRunWithModelError(work, key, used, unusable.code, unusable)
    : succeedRun(work, key, used, answer)
}

const NOT_CONFIGURED = ['llm_not_configured', 'This platform has no language model configured.'] as const

/** Loads the run and everything that determines its permissions; undefined once it has ended or waits. */
const loadStanding = async (work: WorkerWork, key: RunKey): Promise<(Target & { run: Run }) | undefined> => {
  const run = await work.table.get(RunEntity, key)
  if (!run || !isActive(run.status)) return undefined
  const target = await loadTarget(work, run)
  if (!('refused' in target)) return { ...target, run }
  await endRefusedRun(work, key, target)
  return undefined
}

const takeTurn = async (
  { work, runtime }: Shift,
  target: Target & { run: Run },
  prompt: string,
  turns: readonly Turn[],
  signal: AbortSignal,
) => {
  const begun = performance.now()
  const model = runtime.model === SAMPLE_MODEL ? sampleModel(target.workspace.locale) : work.model
  const tools = await listOfferedTools(work, target)
  const span = modelSpan(runtime.model ?? work.model.name ?? 'default')
  const answer = await inSpan(span.name, 'client', span.attributes, async () => {
    const { model: name, instructions } = runtime
    const draft = startDraft(work, target.run)
    const { onText } = draft
    const messages = messagesOf(prompt, turns)
    const taken = await model.turn({ model: name, instructions, messages, tools, signal, onText }).finally(draft.stop)
    if (taken.kind === 'answer') describeSpan(turnAttributes(taken.usage, taken.finishReason))
    else describeSpan({ 'error.type': taken.kind === 'failure' ? String(taken.status ?? '_OTHER') : taken.kind }, true)
    return taken
  })
  logCall(work.log, 'model turn', 'model', answer.kind !== 'failure', {
    run_id: target.run.id,
    app_id: target.app.id,
    turn: turns.length + 1,
    outcome: answer.kind,
    duration_ms: Math.round(performance.now() - begun),
    ...(answer.kind === 'answer' && answer.usage),
    ...(answer.kind === 'failure' && { status: answer.status }),
  })
  return answer
}

/** Returns the reason why a turn fails the run, or undefined. */
const unusableTurn = (
  { max_steps = LIMITS.inlineSteps }: Inline,
  turns: readonly Turn[],
  { text, calls, end, finishReason }: ModelAnswer,
): (Omit<ModelFailure, 'kind'> & { code: RunErrorCode }) | undefined => {
  const error = (message: string) => ({ code: 'llm_error' as const, message })
  if (end === 'refused') return error('The model provider withheld the answer.')
  if (end === 'length') return error('The model’s answer exceeded its maximum length.')
  if (end === 'broken') return error(`The model’s answer isn’t whole: its provider ended it with “${finishReason}”.`)
  if (calls.length > LIMITS.callsPerTurn)
    return error(`The model requested ${calls.length} tool calls in one turn; the maximum is ${LIMITS.callsPerTurn}.`)
  if (calls.length === 0) return text.trim() === '' ? error('The model returned an empty answer.') : undefined
  if (turns.length < max_steps) return undefined
  return { code: 'max_steps_reached', message: `The model reached its maximum of ${max_steps} turns with tool calls.` }
}
