import { ApprovalEntity, type Run } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { storePayload } from '../payloads.ts'
import { voidance } from './approvals.ts'
import { markEnded } from './chain.ts'
import { changingRun, type RunKey, requireActive, requireStarted, runWrite } from './change.ts'
import { presentRun } from './present.ts'
import type { Completion, RunView } from './schemas.ts'
import { releaseSlot } from './start.ts'
import { prepareSteps } from './steps.ts'
import { tellChat, tellMessenger, tellRun } from './tell.ts'

type Outcome = Completion | { status: 'cancelled' }

/**
 * Ends a run. Everything that follows from it is one transaction: the record, its last steps, the freed slot, a pending
 * approval that is now void, the event.
 */
const finish = async (work: Work, run: Run, outcome: Outcome): Promise<RunView> => {
  const now = work.clock.now()
  const completion = outcome.status === 'cancelled' ? undefined : outcome
  const succeeded = outcome.status === 'succeeded'
  const steps = await prepareSteps(work, run, completion?.steps ?? [])
  const voided = await voidApproval(work, { ...run, ...steps.counts }, completion?.steps ?? [])
  const changed = {
    status: outcome.status,
    finished_at: now,
    due_at: undefined,
    pending_step: undefined,
    ...steps.counts,
    ...voided.counts,
    ...(completion?.cost_units !== undefined && { cost_units: completion.cost_units }),
    ...(succeeded && {
      // A place of its own for each try: of two final answers the one that loses must not replace the other's.
      output: await storePayload(work, `runs/${run.id}/output/${work.requestId}`, completion?.output ?? {}),
    }),
    ...(outcome.status === 'failed' && {
      error_code: completion?.error_code ?? 'agent_failed',
      error_message: completion?.error_message ?? '',
    }),
  }
  const finished: Run = { ...run, ...changed }
  const view = await presentRun(work, finished)
  await work.commit(
    [
      runWrite(run, changed),
      ...steps.writes,
      releaseSlot(run.installation_id),
      ...markEnded(run, now),
      ...voided.writes,
      tellRun(work, `run.${outcome.status}`, finished),
      ...tellChat(work, finished),
      ...tellMessenger(work, finished),
    ],
    view,
  )
  return view
}

/** A final answer while a person has yet to decide wins; the approval is void (decisions §4). */
const voidApproval = async (
  work: Work,
  run: Run,
  steps: readonly { seq?: number | undefined }[],
): Promise<ReturnType<typeof voidance> | typeof NOTHING> => {
  if (run.pending_step === undefined) return NOTHING
  const approval = await work.table.get(ApprovalEntity, { run_id: run.id, step_id: run.pending_step })
  if (!approval) return NOTHING
  if (steps.some(({ seq }) => seq === approval.seq)) throw fail('step_write_conflict')
  return voidance(run, approval, 'pending')
}

const NOTHING = { writes: [] as Write[], counts: {} }

/**
 * `POST /runs/{id}/complete`.
 * @throws `run_already_finished`, `conflict` while queued, `too_many_steps`, `payload_too_large`
 */
export const completeRun = (work: Work, key: RunKey, completion: Completion): Promise<RunView> =>
  changingRun(work, key, (run) => finish(work, requireStarted(run), completion))

/** `POST /runs/{id}/cancel`: from every active state. @throws `run_already_finished` */
export const cancelRun = (work: Work, key: RunKey): Promise<RunView> =>
  changingRun(work, key, (run) => finish(work, requireActive(run), { status: 'cancelled' }))

/** Ends a run for the platform's own reasons, unless it has ended already. */
export const failRun = (work: Work, key: RunKey, error_code: string, error_message: string): Promise<void> =>
  finishIf(work, key, () => true, { status: 'failed', error_code, error_message })

/** Ends an active run if `applies` still holds for it as it is now. A run that has ended stays as it is: the first answer wins. */
export const finishIf = (work: Work, key: RunKey, applies: (run: Run) => boolean, outcome: Outcome): Promise<void> =>
  changingRun(work, key, async (run) => {
    if (run.finished_at !== undefined || !applies(run)) return
    await finish(work, run, outcome)
  })
