import type { InlineRun } from '../../entities/inline.ts'
import { isActive, type Run, RunEntity } from '../../entities/runs.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { logCall } from '../called.ts'
import type { WorkerWork } from '../deps.ts'
import type { Manifest } from '../manifests/schema.ts'
import { loadPayload } from '../payloads.ts'
import type { LanguageModel, ModelAnswer, ModelFailure } from '../ports.ts'
import type { RunKey } from '../runs/change.ts'
import { failRun } from '../runs/finish.ts'
import { loadTarget, type Target } from '../runs/target.ts'
import { loadManifest } from '../versions/manifest.ts'
import { keepTurn, loadTurns, messagesOf, type Turn } from './conversation.ts'
import { begin, release, Superseded, takeOver, whileHeld } from './hold.ts'
import { failWith, succeed, type Used } from './outcome.ts'
import { promptOf } from './prompt.ts'
import { type CheckArguments, makeCall, offeredTools } from './tools.ts'
import { handOver } from './wake.ts'

type Inline = Extract<Manifest['runtime'], { type: 'inline' }>

/**
 * Runs an inline agent on the language model (decisions §7), or goes on with one where the last worker stopped.
 *
 *     queued ──begin──► running ──turn──► tool calls ──► turn ──► … ──► succeeded
 *                          ▲                  │ needs approval
 *                          └──decision── awaiting_approval, and no worker meanwhile
 *
 * Every turn and every call is kept before the next one, so that whoever is woken next reads how far it got. Woken twice,
 * one worker goes on; woken late or by the sweep, the same happens as in time.
 */
export const runInline = async (work: WorkerWork, key: RunKey, check: CheckArguments): Promise<void> => {
  const begun = performance.now()
  for (;;) {
    const run = await work.table.get(RunEntity, key)
    if (run?.status !== 'queued' && run?.status !== 'running') return
    const target = await loadTarget(work, run)
    if ('refused' in target) return failRun(work, key, ...target.refused)
    const manifest = await loadManifest(work, target.version)
    if (manifest.runtime.type !== 'inline') return
    const record =
      run.status === 'queued' ? await begin(work, run, await promptOf(work, run, manifest)) : await takeOver(work, run)
    if (!record) return
    const shift: Shift = { work, key, runtime: manifest.runtime, check, begun }
    try {
      // A decision that came while the run was still held woke somebody who went away again: look once more.
      if ((await whileHeld(work, run, (lost) => goOn(shift, record, lost))) !== 'waits') return
    } catch (error) {
      if (error instanceof Superseded) return
      if (!(error instanceof PlatformError)) throw error
      if (error.code === 'run_already_finished') return
      if (error.code !== 'too_many_steps') throw error
      return failRun(work, key, error.code, error.message)
    }
  }
}

/** What one worker knows of the run that it holds. */
interface Shift {
  work: WorkerWork
  key: RunKey
  runtime: Inline
  check: CheckArguments
  /** When the worker began, by `performance.now()`. */
  begun: number
}

/** Takes turns and makes calls until the run has ended, waits for a person, or the worker's time is over. */
const goOn = async (shift: Shift, record: InlineRun, lost: AbortSignal): Promise<'waits' | undefined> => {
  const { work, key } = shift
  const prompt = (await loadPayload(work, record.prompt)) as string
  const turns = await loadTurns(work, key.id)
  let used = { input_tokens: record.input_tokens, output_tokens: record.output_tokens }
  while (!lost.aborted) {
    const now = await standing(work, key)
    if (!now) return undefined
    if (performance.now() - shift.begun > LIMITS.inlineShift) {
      await release(work, now.run)
      await handOver(work, now.run)
      return undefined
    }
    const turn = turns.at(-1)
    const place = turn?.results.indexOf(undefined) ?? -1
    if (turn && place >= 0) {
      const called = await makeCall(work, now, turn, place, shift.check)
      if (called.kind === 'waits') {
        await release(work, now.run)
        return 'waits'
      }
      turn.results[place] = called.text
      continue
    }
    const answer = await takeTurn(shift, now, prompt, turns, lost)
    if (lost.aborted) return undefined
    if (answer.kind === 'answer') {
      used = {
        input_tokens: used.input_tokens + answer.inputTokens,
        output_tokens: used.output_tokens + answer.outputTokens,
      }
    }
    if (answer.kind !== 'answer' || answer.calls.length === 0 || unusableTurn(shift.runtime, turns, answer)) {
      await endWith(shift, turns, used, answer)
      return undefined
    }
    turns.push(await keepTurn(work, now.run, used, turns.length + 1, answer))
  }
  return undefined
}

/** Ends the run with its last turn. */
const endWith = (
  { work, key, runtime }: Shift,
  turns: readonly Turn[],
  used: Used,
  answer: Awaited<ReturnType<LanguageModel['turn']>>,
): Promise<void> => {
  if (answer.kind === 'not_configured') return failRun(work, key, ...NOT_CONFIGURED)
  if (answer.kind === 'failure') return failWith(work, key, used, 'llm_error', answer)
  const unusable = unusableTurn(runtime, turns, answer)
  return unusable ? failWith(work, key, used, unusable.code, unusable) : succeed(work, key, used, answer)
}

const NOT_CONFIGURED = ['llm_not_configured', 'No language model is configured on this platform.'] as const

/** The run and all that decides what it may do, as they are now; undefined once it has ended or waits. */
const standing = async (work: WorkerWork, key: RunKey): Promise<(Target & { run: Run }) | undefined> => {
  const run = await work.table.get(RunEntity, key)
  if (!run || !isActive(run.status)) return undefined
  const target = await loadTarget(work, run)
  if (!('refused' in target)) return { ...target, run }
  await failRun(work, key, ...target.refused)
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
  const answer = await work.model.turn({
    model: runtime.model,
    instructions: runtime.instructions,
    messages: messagesOf(prompt, turns),
    tools: await offeredTools(work, target),
    signal,
  })
  logCall(work.log, 'model turn', 'model', answer.kind !== 'failure', {
    run_id: target.run.id,
    app_id: target.app.id,
    turn: turns.length + 1,
    outcome: answer.kind,
    duration_ms: Math.round(performance.now() - begun),
    ...(answer.kind === 'answer' && { input_tokens: answer.inputTokens, output_tokens: answer.outputTokens }),
    ...(answer.kind === 'failure' && { status: answer.status }),
  })
  return answer
}

/** Why a turn ends the run in failure; undefined when it does not. */
const unusableTurn = (
  { max_steps = LIMITS.inlineSteps }: Inline,
  turns: readonly Turn[],
  { text, calls, end }: ModelAnswer,
): (Omit<ModelFailure, 'kind'> & { code: string }) | undefined => {
  const error = (message: string) => ({ code: 'llm_error', message })
  if (end === 'refused') return error('The model provider withheld the answer.')
  if (end === 'length') return error('The model’s answer was cut at its greatest length.')
  if (calls.length > LIMITS.callsPerTurn) return error(`The model asked for ${calls.length} tool calls in one turn.`)
  if (calls.length === 0) return text.trim() === '' ? error('The model answered with nothing.') : undefined
  if (turns.length < max_steps) return undefined
  return { code: 'max_steps_reached', message: `The model called tools ${max_steps} times and asked for more.` }
}
