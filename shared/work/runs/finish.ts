import { storePayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { RunErrorCode } from '#shared/kernel/run-errors.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { settleBudgets } from '../budgets/index.ts'
import { voidApprovalWrites } from './approval-pending.ts'
import { markEnded } from './chain.ts'
import { changeRun, type RunKey, requireActive, requireStarted, runWrite } from './change.ts'
import { emitChatMoved, emitMessengerAnswer, emitRunEvent } from './emit.ts'
import { ApprovalEntity, isNamedBySlot, type Run } from './entity.ts'
import { voidInputWrites } from './input-pending.ts'
import { presentRun } from './present.ts'
import { findRunKey } from './read.ts'
import type { Completion, RunView } from './schemas.ts'
import { releaseSlot } from './slots.ts'
import { prepareSteps, type StepInput } from './steps.ts'
import { tokensOf } from './usage.ts'

type Outcome = Completion | Cancellation

/** With a code if the platform cancels it. */
interface Cancellation {
  status: 'cancelled'
  error_code?: string
  error_message?: string
}

/** Ends a run, and returns it as the API presents it. @param more further writes of the same transaction */
const finish = async (work: Work, run: Run, outcome: Outcome, more: readonly Write[] = []): Promise<RunView> => {
  const end = await prepareEnd(work, run, outcome)
  const view = await presentRun(work, end.finished)
  await commitEnd(work, run, { ...end, writes: [...end.writes, ...more] }, view)
  return view
}

/** Commits the end of a run in one transaction: the record, the writes that belong to it, the freed slot, and the event. */
const commitEnd = async (work: Work, run: Run, end: PreparedEnd, answer?: RunView): Promise<void> => {
  const { changed, finished, writes } = end
  await work.commit(
    [
      runWrite(run, changed),
      ...writes,
      ...releaseSlot(run, work.clock.now()),
      emitRunEvent(work, `run.${changed.status}`, finished),
    ],
    answer,
  )
}

interface PreparedEnd {
  /** Fields of the run that change. */
  changed: Partial<Run> & Pick<Outcome, 'status'>
  finished: Run
  /** Writes that belong to the end, apart from those of every run. */
  writes: readonly Write[]
}

/**
 * Prepares the end of a run, with its last steps, its budgets, its marks, and the voided approval and questions if any were
 * pending.
 */
const prepareEnd = async (work: Work, run: Run, outcome: Outcome): Promise<PreparedEnd> => {
  const now = work.clock.now()
  const completion = outcome.status === 'cancelled' ? undefined : outcome
  const succeeded = outcome.status === 'succeeded'
  const steps = await prepareSteps(work, run, completion ? (completion.steps ?? []) : unfinishedSteps(run))
  const voided = await voidApproval(work, { ...run, ...steps.counts }, completion?.steps ?? [])
  const questions = await voidInputWrites(work, { ...run, ...steps.counts, ...voided.counts })
  const usage = completion?.usage ?? run.usage
  // A run that the platform ends costs what its model has used so far.
  const cost_units = completion?.cost_units ?? (usage && run.usage && tokensOf(usage))
  const changed = {
    status: outcome.status,
    finished_at: now,
    retry_at: undefined,
    due_at: undefined,
    pending_step: undefined,
    input_steps: undefined,
    ...ONLY_WHILE_ACTIVE,
    ...steps.counts,
    ...voided.counts,
    ...questions.counts,
    ...(cost_units !== undefined && { cost_units }),
    ...(usage && { usage }),
    ...(succeeded && {
      // A key per attempt: of two final answers, the one that loses must not overwrite the other's output.
      output: await storePayload(work, `runs/${run.id}/output/${work.requestId}`, completion?.output ?? {}),
    }),
    ...(outcome.status === 'cancelled' &&
      outcome.error_code !== undefined && {
        error_code: outcome.error_code,
        error_message: outcome.error_message ?? '',
      }),
    ...(outcome.status === 'failed' && {
      error_code: completion?.error_code ?? 'agent_failed',
      error_message: completion?.error_message ?? '',
    }),
  }
  const finished: Run = { ...run, ...changed }
  const writes = [
    ...steps.writes,
    ...settleBudgets(run, { tokens: tokensOf(usage), cost_units: cost_units ?? 0 }),
    ...(isNamedBySlot(run) ? [] : markEnded(run, now)),
    ...voided.writes,
    ...questions.writes,
    ...emitChatMoved(work, finished),
    ...emitMessengerAnswer(work, finished),
  ]
  return { changed, finished, writes }
}

/** The step of a model's turn that was stopped. Who stopped it has read the text already, and finds it again. */
const unfinishedSteps = ({ draft, step_count }: Run): StepInput[] =>
  draft && step_count < LIMITS.stepsPerRun
    ? [{ type: 'message', output: {}, stored: { json: JSON.stringify({ text: draft.text }) } }]
    : []

/** Fields of active runs only: the times that show whether a run is silent, and the text that is being written. */
const ONLY_WHILE_ACTIVE = {
  ends_at: undefined,
  dispatched_at: undefined,
  accepted_at: undefined,
  alive_at: undefined,
  draft: undefined,
}

/** Voids the pending approval: a final answer wins over an undecided call (contract/runs.md#finishing). */
const voidApproval = async (
  work: Work,
  run: Run,
  steps: readonly { seq?: number | undefined }[],
): Promise<ReturnType<typeof voidApprovalWrites> | typeof NOTHING> => {
  if (run.pending_step === undefined) return NOTHING
  const approval = await work.table.get(ApprovalEntity, { run_id: run.id, step_id: run.pending_step })
  if (!approval) return NOTHING
  if (steps.some(({ seq }) => seq === approval.seq)) throw fail('step_write_conflict')
  return voidApprovalWrites(run, approval, 'pending')
}

const NOTHING = { writes: [] as Write[], counts: {} }

/**
 * Handles `POST /runs/{id}/complete`.
 * @param known the run if it was just read
 * @throws `run_already_finished`, `conflict` while queued, `too_many_steps`, `payload_too_large`
 */
export const completeRun = (work: Work, key: RunKey, completion: Completion, known?: Run): Promise<RunView> =>
  changeRun(work, key, (run) => finish(work, requireStarted(run), completion), known)

/** Handles `POST /runs/{id}/cancel`, for a run in any active status. @throws `run_already_finished` */
export const cancelRun = (work: Work, key: RunKey): Promise<RunView> =>
  changeRun(work, key, (run) => finish(work, requireActive(run), { status: 'cancelled' }))

/** Cancels a run for a member of its workspace. @throws `not_found`; `run_already_finished` */
export const cancelRunAsPerson = async (
  work: Work,
  workspaceId: string,
  personId: string,
  runId: string,
): Promise<RunView> => {
  const key = await findRunKey(work, workspaceId, runId, personId)
  return cancelRunFor(work, key, { userId: personId })
}

/**
 * Cancels a run for a person, with an audit entry.
 * @param by the person, and the host that they act through, if any
 * @throws `run_already_finished`
 */
export const cancelRunFor = (
  work: Work,
  key: RunKey,
  { userId, via }: { userId: string; via?: Record<string, string> },
): Promise<RunView> =>
  changeRun(work, key, (run) =>
    finish(work, requireActive(run), { status: 'cancelled' }, [
      auditEntry(work, {
        scope: run.workspace_id,
        action: 'run.cancelled',
        actor: { type: 'user', id: userId },
        target: { type: 'run', id: run.id },
        private_to: run.private_to,
        details: { installation_id: run.installation_id, ...(via && { via }) },
      }),
    ]),
  )

/** Fails a run on behalf of the platform, unless it has ended already. */
export const failRun = (work: Work, key: RunKey, error_code: RunErrorCode, error_message: string): Promise<void> =>
  finishIf(work, key, () => true, { status: 'failed', error_code, error_message })

/**
 * Ends an active run if `applies` is true for its current state. A run that has ended stays: the first answer wins.
 * @param known the run as it was just read or written
 */
export const finishIf = (
  work: Work,
  key: RunKey,
  applies: (run: Run) => boolean,
  outcome: Outcome,
  known?: Run,
): Promise<void> =>
  changeRun(
    work,
    key,
    async (run) => {
      if (run.finished_at !== undefined || !applies(run)) return
      await commitEnd(work, run, await prepareEnd(work, run, outcome))
    },
    known,
  )
