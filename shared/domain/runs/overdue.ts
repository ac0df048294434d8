import { type Approval, ApprovalEntity, isActive, type Run, RunEntity } from '../../entities/runs.ts'
import { wakeUp } from '../../events/queues.ts'
import { DAY, MINUTE } from '../../kernel/clock.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ifUnchanged, type Key } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { handOver, isInline } from '../inline/wake.ts'
import { decideAt } from './approvals.ts'
import { settle } from './approved-tool.ts'
import { changingRun, runWrite } from './change.ts'
import { isAsked, lookAt } from './due.ts'
import { finishIf } from './finish.ts'

/**
 * So long before its record expires, a run ends: afterwards nobody could give its place among the active ones back. The sweep
 * looks at an active run every hour at least, at one that waits for a decision after a day.
 */
const ENDS_BEFORE = 2 * DAY

/**
 * What the sweep does about a run whose time has come (decisions §4):
 * not dispatched yet → wake the dispatcher again; no sign of life 45 seconds after run.execute → `agent_unreachable`;
 * silent for an hour after a 202, or active for nearly as long as runs are kept → `agent_timeout`; an inline agent’s whose worker is
 * gone → wake the next one; another agent's question whose chain is out of time → cancelled.
 */
export const handleOverdueRun = async (work: WorkerWork, key: Key): Promise<void> => {
  const run = await work.table.getByKey(RunEntity, key)
  const now = work.clock.now()
  if (!run || run.due_at === undefined || run.due_at > now) return
  if (isActive(run.status) && isAsked(run) && run.chain_deadline <= now) {
    return finishIf(work, run, () => true, { status: 'cancelled' })
  }
  if (isActive(run.status) && run.created_at + work.table.payloadDays * DAY - ENDS_BEFORE <= now) {
    return finishIf(work, run, () => true, {
      status: 'failed',
      error_code: 'agent_timeout',
      error_message: 'The run was active for nearly as long as runs are kept.',
    })
  }
  if (!isActive(run.status) || run.status === 'awaiting_approval') return postpone(work, run, undefined)
  if (run.status === 'queued') {
    await work.queues.send('dispatch', [{ body: wakeUp('run.created', run), group: run.installation_id }])
    return postpone(work, run, now + MINUTE)
  }
  if (await isInline(work, run)) {
    await handOver(work, run)
    return postpone(work, run, now + MINUTE)
  }
  const lastSign = lastSignOf(run)
  const stillSilent = (current: Run): boolean => lastSignOf(current) === lastSign
  // Its 202 is one, also within the same millisecond.
  const showedLife = run.accepted_at !== undefined || lastSign > (run.dispatched_at ?? 0)
  if (!showedLife) {
    return finishIf(work, run, stillSilent, {
      status: 'failed',
      error_code: 'agent_unreachable',
      error_message: 'The agent’s answer to run.execute did not arrive.',
    })
  }
  const silentAt = lastSign + LIMITS.agentSilence
  if (silentAt > now) return postpone(work, run, silentAt)
  return finishIf(work, run, stillSilent, {
    status: 'failed',
    error_code: 'agent_timeout',
    error_message: 'The agent gave no sign of life for an hour.',
  })
}

/** When the agent last showed that it works on the run; 0 when it never did. */
const lastSignOf = ({ alive_at = 0, accepted_at = 0 }: Run): number => Math.max(alive_at, accepted_at)

const postpone = (work: WorkerWork, run: Run, due_at: number | undefined): Promise<void> =>
  changingRun(work, run, async (current) => {
    if (current.due_at !== run.due_at) return
    await work.commit([runWrite(current, { due_at: isActive(current.status) ? lookAt(current, due_at) : due_at })])
  })

/**
 * What the sweep does about an approval: undecided for 24 hours → rejected; approved but not claimed → wake the worker
 * again; claimed and never settled → its outcome is unknown, and it is not repeated.
 */
export const handleOverdueApproval = async (work: WorkerWork, key: Key): Promise<void> => {
  const approval = await work.table.getByKey(ApprovalEntity, key)
  const now = work.clock.now()
  if (!approval || approval.due_at === undefined || approval.due_at > now) return
  const runKey = { installation_id: approval.installation_id, id: approval.run_id }
  const run = await work.table.get(RunEntity, runKey)
  if (!run) return settleDue(work, approval, undefined)
  switch (approval.status) {
    case 'pending':
      return reject(work, run, approval)
    case 'approved':
      await work.queues.send('approved-tools', [
        { body: wakeUp('approval.decided', run, { step_id: approval.step_id }), group: run.installation_id },
      ])
      return settleDue(work, approval, now + MINUTE)
    case 'executing':
      return settle(work, run, approval, {
        error: 'outcome_unknown',
        message:
          'The platform lost the worker that executed this call. It may or may not have been executed; it is not repeated.',
      })
    default:
      return settleDue(work, approval, undefined)
  }
}

const reject = async (work: WorkerWork, run: Run, approval: Approval): Promise<void> => {
  try {
    await decideAt(work, run, undefined, approval.step_id, {
      decision: 'reject',
      comment: 'Nobody decided within 24 hours.',
    })
  } catch (error) {
    // Decided or ended in the same moment.
    if (!(error instanceof PlatformError) || error.status !== 409) throw error
    await settleDue(work, approval, undefined)
  }
}

const settleDue = async (work: WorkerWork, approval: Approval, due_at: number | undefined): Promise<void> => {
  await ifUnchanged(
    work.commit([ApprovalEntity.update(approval, { set: { due_at } }, { where: { status: approval.status } })]),
  )
}
