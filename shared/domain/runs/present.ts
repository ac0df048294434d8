import type { StoredPayload } from '../../entities/payload.ts'
import type { Run, Step } from '../../entities/runs.ts'
import { iso } from '../../kernel/clock.ts'
import { payloadBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { loadPayload } from '../payloads.ts'
import type { RunView, StepView } from './schemas.ts'

type Json = Record<string, unknown>

/** A value as it was stored; of one that the bucket has lost, how large it was, as of one that is left out of an answer. */
const shown = async (deps: Pick<Deps, 'objects'>, stored: StoredPayload): Promise<Json> =>
  ((await loadPayload(deps, stored)) ?? leftOut(stored)) as Json

/** What stands for a value that is not shown. */
export const leftOut = (stored: StoredPayload): Json => ({ truncated: true, bytes: payloadBytes(stored) })

export const presentStep = async (deps: Pick<Deps, 'objects'>, step: Step): Promise<StepView> => ({
  id: step.id,
  seq: step.seq,
  type: step.type,
  status: step.status,
  output: await shown(deps, step.output),
  tool: step.tool ?? null,
  created_at: iso(step.created_at),
})

/** A run as the API shows it, without its steps. */
export const presentRun = async (deps: Pick<Deps, 'objects'>, run: Run): Promise<RunView> => {
  const [input, output] = await Promise.all([shown(deps, run.input), presentOutput(deps, run)])
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
    cost_units: run.cost_units ?? null,
    parent_run_id: run.parent_run_id ?? null,
    chain_depth: run.chain_depth,
    created_at: iso(run.created_at),
    started_at: run.started_at === undefined ? null : iso(run.started_at),
    finished_at: run.finished_at === undefined ? null : iso(run.finished_at),
    duration_ms: durationOf(run) ?? null,
  }
}

/** A run's result; null without one. */
export const presentOutput = async (
  deps: Pick<Deps, 'objects'>,
  { output }: Pick<Run, 'output'>,
): Promise<Json | null> => (output ? shown(deps, output) : null)

/** Milliseconds from the start (or the creation, if it never started) to the end; undefined while the run goes on. */
export const durationOf = (run: Pick<Run, 'created_at' | 'started_at' | 'finished_at'>): number | undefined =>
  run.finished_at === undefined ? undefined : run.finished_at - (run.started_at ?? run.created_at)
