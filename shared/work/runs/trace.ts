import { InstallationEntity } from '#shared/access/installations/index.ts'
import { payloadBytes, type StoredPayload } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { RunKey } from './change.ts'
import { type Approval, ApprovalEntity, type Run, RunChildEntity, RunEntity, type Step } from './entity.ts'
import { findRunKey } from './read.ts'
import type { Trace } from './schemas.ts'
import { loadSteps } from './steps.ts'

/** Most runs of a trace, and the deepest below the first: chains end at three hops, and tasks start new ones. */
const MOST_RUNS = 40
const DEEPEST = 8

type TraceStep = Trace['runs'][number]['steps'][number]

/**
 * Reads when everything in a run happened: its steps, decisions, and the runs that it caused, as a member sees them.
 * @throws `not_found`
 */
export const readTrace = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  viewerId: string,
  runId: string,
): Promise<Trace> => {
  const found = await loadFamily(deps, await findRunKey(deps, workspaceId, runId, viewerId), viewerId)
  const runs = found.slice(0, MOST_RUNS)
  const installations = await deps.table.getAll(
    runs.map(({ installation_id }) => InstallationEntity.ref({ workspace_id: workspaceId, id: installation_id })),
  )
  return {
    runs: await Promise.all(runs.map((run, i) => traceOf(deps, run, installations[i]?.app_name))),
    is_complete: found.length <= MOST_RUNS,
  }
}

/** Loads a run and those below it, each level after the one above. */
const loadFamily = async ({ table }: Pick<Deps, 'table'>, key: RunKey, viewerId: string): Promise<Run[]> => {
  const family: Run[] = []
  let level: RunKey[] = [key]
  for (let depth = 0; level.length > 0 && depth <= DEEPEST && family.length <= MOST_RUNS; depth++) {
    const runs = (await table.getAll(level.map((one) => RunEntity.ref(one)))).filter(
      (run): run is Run => run !== undefined && isVisibleTo(viewerId, run),
    )
    family.push(...runs)
    const pages = await Promise.all(
      runs.map(({ id }) => table.query(RunChildEntity, { run_id: id }, { limit: MOST_RUNS, ascending: true })),
    )
    level = pages
      .flatMap(({ items }) => items.map(({ installation_id, child_id }) => ({ installation_id, id: child_id })))
      .slice(0, MOST_RUNS + 1 - family.length)
  }
  return family
}

const tokensShown = ({ input_tokens, output_tokens, ...more }: NonNullable<Run['usage']>) => ({
  input: input_tokens,
  output: output_tokens,
  ...more,
})

const time = (at: number | undefined): string | null => (at === undefined ? null : iso(at))

const traceOf = async (deps: Pick<Deps, 'table'>, run: Run, name: string | undefined) => {
  const steps = await loadSteps(deps, run.id, run)
  const asked = steps.filter(({ type }) => type === 'approval')
  const approvals = await deps.table.getAll(asked.map(({ id }) => ApprovalEntity.ref({ run_id: run.id, step_id: id })))
  const approvalOf = (step: Step): Approval | undefined => approvals[asked.indexOf(step)]
  const shown = steps.map((step) => traceStep(step, approvalOf(step)))
  const used = shown.flatMap(({ tokens }) => tokens ?? [])
  return {
    id: run.id,
    parent_run_id: run.parent_run_id ?? null,
    installation_id: run.installation_id,
    agent: { id: run.agent_id, version: run.version, name: name ?? null },
    status: run.status,
    trigger: run.trigger,
    tool: run.tool ?? null,
    created_at: iso(run.created_at),
    started_at: time(run.started_at),
    finished_at: time(run.finished_at),
    input_bytes: payloadBytes(run.input),
    output_bytes: payloadBytes(run.output),
    cost_units: run.cost_units ?? null,
    tokens: run.usage
      ? tokensShown(run.usage)
      : used.length > 0
        ? used.reduce((a, b) => ({ input: a.input + b.input, output: a.output + b.output }))
        : null,
    error_code: run.error_code ?? null,
    steps: shown,
  }
}

const traceStep = (step: Step, approval: Approval | undefined): TraceStep => ({
  id: step.id,
  seq: step.seq,
  type: step.type,
  tool: step.tool ?? null,
  status: step.status,
  created_at: iso(step.created_at),
  started_at: iso(step.started_at ?? step.created_at),
  ended_at: time(endOf(step, approval)),
  bytes: payloadBytes(step.output),
  tokens: tokensIn(step.output),
  executing_at: time(approval?.executing_at),
  decision:
    approval?.decided_at === undefined
      ? null
      : {
          by: approval.decided_by ?? null,
          on_behalf_of: approval.on_behalf_of ?? null,
          at: iso(approval.decided_at),
          comment: approval.comment ?? null,
          approved_before_by: (approval.votes ?? []).map(({ by, at }) => ({ by, at: iso(at) })),
        },
})

/** A step's end; undefined while it waits for somebody. Steps that an agent reports have no duration. */
const endOf = ({ status, created_at }: Step, approval: Approval | undefined): number | undefined => {
  if (status === 'pending') return undefined
  if (!approval) return created_at
  return approval.executed_at ?? approval.decided_at ?? approval.executing_at ?? created_at
}

/** Names under which models report tokens. */
const TOKENS = [
  ['input_tokens', 'output_tokens'],
  ['prompt_tokens', 'completion_tokens'],
  ['inputTokens', 'outputTokens'],
] as const

/** Reads the tokens that a step reports in `usage`. */
const tokensIn = (stored: StoredPayload): { input: number; output: number } | null => {
  if (!('json' in stored) || !stored.json.includes('"usage"')) return null
  const { usage } = JSON.parse(stored.json) as { usage?: unknown }
  if (typeof usage !== 'object' || usage === null) return null
  const given = usage as Record<string, unknown>
  for (const [input, output] of TOKENS) {
    const [a, b] = [given[input], given[output]]
    if (isAmount(a) && isAmount(b)) return { input: a, output: b }
  }
  return null
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
