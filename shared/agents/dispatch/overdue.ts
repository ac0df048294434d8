import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { eventMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { decideApprovalByKey } from '#shared/work/approvals/index.ts'
import { failUnanswered } from '#shared/work/questions/index.ts'
import {
  type Approval,
  ApprovalEntity,
  changeRun,
  createdEventId,
  finishIf,
  InputRequestEntity,
  isActive,
  isAwaitedByAgent,
  isWaitingForInput,
  nextCheckAt,
  type Run,
  RunEntity,
  runWrite,
} from '#shared/work/runs/index.ts'
import { hasInlineRun, wakeInlineWorker } from '../inline/wake.ts'
import { hasOutsideTask } from '../outside/index.ts'
import { loadTarget } from '../targets/target.ts'
import { callMessage, storeResult } from './approved-tool.ts'
import { retryLater, wakeDispatcher, withAttempts } from './retry.ts'

/**
 * A run ends this long before its record expires, because afterwards its slot among the active runs couldn't be freed.
 * The sweeper checks an active run at least hourly, and one that awaits a decision after a day.
 */
const ENDS_BEFORE = 2 * DAY

/**
 * Handles an overdue run (contract/runs.md#timeouts). One that was not dispatched yet wakes the dispatcher again.
 * Without a sign of life 45 seconds after run.execute, it is sent again or fails with `agent_unreachable`. After an hour of silence
 * following a 202, at the end of its lifetime, or when its record is about to expire, it fails with `agent_timeout`. An inline agent's run without
 * a worker wakes the next worker. A run asked for by another agent is cancelled at its chain's deadline.
 */
export const handleOverdueRun = async (work: WorkerWork, key: Key): Promise<void> => {
  const run = await work.table.getByKey(RunEntity, key)
  const now = work.clock.now()
  if (run?.due_at === undefined || run.due_at > now) return
  continueTrace(run.trace)
  if (isAwaitedByAgent(run) && run.chain_deadline <= now) {
    return finishIf(work, run, () => true, { status: 'cancelled' })
  }
  if (run.ends_at !== undefined && run.ends_at <= now) {
    return finishIf(work, run, () => true, {
      status: 'failed',
      error_code: 'agent_timeout',
      error_message: 'The run reached its longest lifetime.',
    })
  }
  if (run.created_at + work.table.payloadDays * DAY - ENDS_BEFORE <= now) {
    return finishIf(work, run, () => true, {
      status: 'failed',
      error_code: 'agent_timeout',
      error_message: 'The run was still active shortly before the end of its retention period.',
    })
  }
  if (run.status === 'awaiting_approval' || isWaitingForInput(run)) return postpone(work, run, undefined)
  if (run.status === 'queued' || run.retry_at !== undefined) {
    await wakeDispatcher(work, run)
    return postpone(work, run, now + MINUTE)
  }
  if (await hasInlineRun(work, run)) {
    await wakeInlineWorker(work, run)
    return postpone(work, run, now + MINUTE)
  }
  // The task there has a due time of its own.
  if (await hasOutsideTask(work, run)) return postpone(work, run, undefined)
  const lastSign = lastSignOf(run)
  const stillSilent = (current: Run): boolean => lastSignOf(current) === lastSign
  // A 202 counts as a sign of life even within the same millisecond.
  const showedLife = run.accepted_at !== undefined || lastSign > (run.dispatched_at ?? 0)
  const silentFrom = (run.dispatched_at ?? 0) + LIMITS.agentLifeSign
  if (!showedLife && silentFrom > now) return postpone(work, run, silentFrom)
  if (!showedLife) {
    if (await retryLost(work, run, stillSilent)) return
    return finishIf(work, run, stillSilent, {
      status: 'failed',
      error_code: 'agent_unreachable',
      error_message: withAttempts('The agent’s answer to run.execute didn’t arrive.', run),
    })
  }
  const silentAt = lastSign + LIMITS.agentSilence
  if (silentAt > now) {
    await countAgain(work, run)
    return postpone(work, run, silentAt)
  }
  return finishIf(work, run, stillSilent, {
    status: 'failed',
    error_code: 'agent_timeout',
    error_message: 'The agent gave no sign of life for an hour.',
  })
}

/** Requeues the start of a long run for counting, because its dispatcher may have died before it sent the message. */
const countAgain = async (work: WorkerWork, { id }: Run): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id: createdEventId(id) })
  if (!event || event.test) return
  await work.queues.send('statistics', [{ body: eventMessage(event) }])
}

/** Sends a run again whose worker was lost, if its manifest allows it. */
const retryLost = async (work: WorkerWork, run: Run, stillSilent: (current: Run) => boolean): Promise<boolean> => {
  const target = await loadTarget(work, run)
  if ('refused' in target) return false
  return retryLater(work, run, target.version, 0, stillSilent, (lost) => wakeDispatcher(work, lost))
}

/** Returns when the agent last showed that it works on the run; 0 if it never did. */
const lastSignOf = ({ alive_at = 0, accepted_at = 0 }: Run): number => Math.max(alive_at, accepted_at)

const postpone = (work: WorkerWork, run: Run, due_at: number | undefined): Promise<void> =>
  changeRun(work, run, async (current) => {
    if (current.due_at !== run.due_at || !isActive(current.status)) return
    await work.commit([runWrite(current, { due_at: nextCheckAt(current, due_at) })])
  })

/**
 * Handles an overdue approval. After 24 hours without a decision it is rejected. If approved but not claimed, the
 * worker is woken again. If claimed but never settled, its outcome is unknown and the call isn't repeated.
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
      await work.queues.send('approved-tools', [callMessage(approval)])
      return settleDue(work, approval, now + MINUTE)
    case 'executing':
      return storeResult(work, run, approval, {
        error: 'outcome_unknown',
        message:
          'The worker that executed this call stopped unexpectedly. The call may or may not have been executed, and it isn’t repeated.',
      })
    default:
      return settleDue(work, approval, undefined)
  }
}

const reject = async (work: WorkerWork, run: Run, approval: Approval): Promise<void> => {
  try {
    await decideApprovalByKey(work, run, undefined, approval.step_id, {
      decision: 'reject',
      comment: 'No decision was made within 24 hours.',
    })
  } catch (error) {
    // It was decided, or the run ended, at the same moment.
    if (!(error instanceof PlatformError) || error.status !== 409) throw error
    await settleDue(work, approval, undefined)
  }
}

const settleDue = async (work: WorkerWork, approval: Approval, due_at: number | undefined): Promise<void> => {
  await ifUnchanged(
    work.commit([ApprovalEntity.update(approval, { set: { due_at } }, { where: { status: approval.status } })]),
  )
}

/** Handles overdue questions: after 24 hours, or 10 minutes over MCP, the run fails with `input_timeout`. */
export const handleOverdueInput = async (work: WorkerWork, key: Key): Promise<void> => {
  const asked = await work.table.getByKey(InputRequestEntity, key)
  if (!asked || asked.due_at === undefined || asked.due_at > work.clock.now()) return
  if (asked.status === 'pending') await failUnanswered(work, asked)
  // The run may have ended without them.
  await ifUnchanged(
    work.commit([
      InputRequestEntity.update(
        asked,
        { set: { status: 'voided', due_at: undefined }, list: null },
        { where: { status: 'pending' } },
      ),
    ]),
  )
}
