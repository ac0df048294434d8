import { loadPayload, payloadBytes, type StoredPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { runErrorHelp } from '#shared/kernel/run-errors.ts'
import type { Run, Step } from './entity.ts'
import type { RunErrorView, RunView, StepView } from './schemas.ts'
import { isWaitingForInput } from './slots.ts'

/** Dependencies of presenting a run: its large values, and the address of the documentation. */
export type Presenting = Pick<Deps, 'objects' | 'settings'>

type Json = Record<string, unknown>

/** Loads a stored value. If the bucket has lost it, returns its size, as for an omitted value. */
const loadShown = async (deps: Pick<Deps, 'objects'>, stored: StoredPayload): Promise<Json> =>
  ((await loadPayload(deps, stored)) ?? omittedValue(stored)) as Json

/** Placeholder for an omitted value. */
export const omittedValue = (stored: StoredPayload): Json => ({ truncated: true, bytes: payloadBytes(stored) })

export const presentStep = async (deps: Pick<Deps, 'objects'>, step: Step): Promise<StepView> => ({
  id: step.id,
  seq: step.seq,
  type: step.type,
  status: step.status,
  output: await loadShown(deps, step.output),
  tool: step.tool ?? null,
  created_at: iso(step.created_at),
})

/** Presents a run without its steps. */
export const presentRun = async (deps: Presenting, run: Run): Promise<RunView> => {
  const [input, output] = await Promise.all([loadShown(deps, run.input), presentOutput(deps, run)])
  return {
    id: run.id,
    status: run.status,
    app_id: run.app_id,
    installation_id: run.installation_id,
    workspace_id: run.workspace_id,
    agent: { id: run.agent_id, version: run.version },
    trigger: run.trigger,
    input,
    output,
    error_code: run.error_code ?? null,
    error_message: run.error_message ?? null,
    error: presentRunError(deps, run),
    cost_units: run.cost_units ?? null,
    usage: run.usage ?? null,
    parent_run_id: run.parent_run_id ?? null,
    chain_depth: run.chain_depth,
    created_at: iso(run.created_at),
    started_at: run.started_at === undefined ? null : iso(run.started_at),
    finished_at: run.finished_at === undefined ? null : iso(run.finished_at),
    duration_ms: durationOf(run) ?? null,
  }
}

/** Starter of a run, as members of its workspace see it. */
export const originOf = ({ actor, task_id, conversation_id, repeats, tool, input_steps }: Run) => ({
  started_by: actor ?? null,
  task_id: task_id ?? null,
  conversation_id: conversation_id ?? null,
  waits_for_answer: isWaitingForInput({ input_steps }),
  repeats: repeats ?? null,
  tool: tool ?? null,
})

/** Presents a run to a member of its workspace. */
export const presentWorkspaceRun = async (deps: Presenting, run: Run) => ({
  ...(await presentRun(deps, run)),
  ...originOf(run),
})

/**
 * Presents why a run failed and what to do about it (contract/errors.md#run-error-codes). What to do isn't stored, so that
 * every run has today's text.
 */
export const presentRunError = (
  { settings }: Pick<Deps, 'settings'>,
  { error_code: code, error_message: message = '' }: Pick<Run, 'error_code' | 'error_message'>,
): RunErrorView | null => {
  if (code === undefined) return null
  const { fix, anchor } = runErrorHelp(code)
  return { code, message, fix, docs_url: `${settings.baseUrl}/docs#${anchor}` }
}

/** Returns why a run that ended didn't succeed, as a sentence also if its agent gave none. */
export const failureText = ({ status, error_message = '' }: Pick<Run, 'status' | 'error_message'>): string => {
  if (error_message.trim() !== '') return error_message
  return status === 'cancelled' ? 'The agent’s run was cancelled.' : 'The agent failed without a message.'
}

/** Presents a run's output; null without one. */
export const presentOutput = async (
  deps: Pick<Deps, 'objects'>,
  { output }: Pick<Run, 'output'>,
): Promise<Json | null> => (output ? loadShown(deps, output) : null)

/** Returns the milliseconds from the start (or creation, if it never started) to the end; undefined while active. */
export const durationOf = (run: Pick<Run, 'created_at' | 'started_at' | 'finished_at'>): number | undefined =>
  run.finished_at === undefined ? undefined : run.finished_at - (run.started_at ?? run.created_at)
