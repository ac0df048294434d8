import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { failRun, isActive, type Run, RunEntity, type RunKey } from '#shared/work/runs/index.ts'
import { endRefusedRun, loadTarget } from '../targets/target.ts'
import { applyReading, closeTask } from './apply.ts'
import { callOutside, loadLine } from './call.ts'
import { type OutsideTask, OutsideTaskEntity } from './entity.ts'
import { wakeFollower, wakeForNotification } from './wake.ts'

/** Pause between the attempts to cancel a task. */
const CANCEL_PAUSE = 10 * SECOND

/** Shortest time between two checks that notifications cause, however many an agent sends. */
const NOTIFIED_PAUSE = SECOND
/** Pause of a notification that came before the answer to the message, which names the task. */
const EARLY_PAUSE = 2 * SECOND
/** Checks by other workers that may come in between. */
const ATTEMPTS = 5

/** Looks at the task of a run if nothing has happened to it since the message was sent. */
export const followOutsideRun = async (work: WorkerWork, key: RunKey, round: number): Promise<void> => {
  const task = await work.table.get(OutsideTaskEntity, { run_id: key.id })
  if (task?.round === round) await follow(work, task)
}

/**
 * Checks the task of a run because its agent sent a notification, unless another check has followed. What the notification
 * says doesn't count.
 */
export const followNotification = async (work: WorkerWork, key: RunKey): Promise<void> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const task = await work.table.get(OutsideTaskEntity, { run_id: key.id })
    if (!task?.is_notified || task.is_over) return
    const early = task.task_id === undefined ? EARLY_PAUSE : (task.checked_at ?? 0) + NOTIFIED_PAUSE - work.clock.now()
    if (early > 0) {
      const run = await work.table.get(RunEntity, key)
      if (run) await wakeForNotification(work, run, early)
      return
    }
    if (await follow(work, task)) return
  }
  throw new Error('other workers check the task')
}

/** Wakes a worker for a task whose message was lost, or whose worker was lost while it sent one. */
export const handleOverdueOutsideTask = async (work: WorkerWork, key: Key): Promise<void> => {
  const task = await work.table.getByKey(OutsideTaskEntity, key)
  const now = work.clock.now()
  if (task?.due_at === undefined || task.due_at > now) return
  const run = await work.table.get(RunEntity, { installation_id: task.installation_id, id: task.run_id })
  if (!run) return closeTask(work, task)
  await wakeFollower(work, run, task.round, 0)
  const write = OutsideTaskEntity.update(task, { set: { due_at: now + MINUTE } }, { where: { round: task.round } })
  await ifUnchanged(work.commit([write]))
}

/** Of several workers, the one that writes the next round checks the task. @returns false if another one does */
const follow = async (work: WorkerWork, task: OutsideTask): Promise<boolean> => {
  const run = await work.table.get(RunEntity, { installation_id: task.installation_id, id: task.run_id })
  if (!run || task.is_over || (!isActive(run.status) && (run.status === 'succeeded' || task.task_id === undefined)))
    return closeTask(work, task).then(() => true)
  continueTrace(run.trace)
  const now = work.clock.now()
  const set = {
    round: task.round + 1,
    checks: task.checks + 1,
    checked_at: now,
    is_notified: undefined,
    due_at: now + MINUTE,
  }
  const write = OutsideTaskEntity.update(task, { set }, { where: { round: task.round } })
  if (!(await ifUnchanged(work.commit([write])))) return false
  const taken = { ...task, ...set }
  await (isActive(run.status) ? check(work, run, taken) : cancel(work, run, taken))
  return true
}

const check = async (work: WorkerWork, run: Run, task: OutsideTask): Promise<void> => {
  if (task.task_id === undefined) {
    await failRun(work, run, 'agent_unreachable', 'The agent’s answer to the message didn’t arrive.')
    return closeTask(work, task)
  }
  const target = await loadTarget(work, run)
  if ('refused' in target) {
    await endRefusedRun(work, run, target)
    return closeTask(work, task)
  }
  const line = await loadLine(work, target)
  if (!line) return closeTask(work, task)
  const reading = await callOutside(work, run, target, line, { kind: 'read', taskId: task.task_id })
  await applyReading(work, run, task, reading)
}

/** Cancels the task of a run that ended here first. */
const cancel = async (work: WorkerWork, run: Run, task: OutsideTask): Promise<void> => {
  const target = await loadTarget(work, run)
  const line = 'refused' in target ? undefined : await loadLine(work, target)
  if ('refused' in target || !line || task.task_id === undefined) return closeTask(work, task)
  const reading = await callOutside(work, run, target, line, { kind: 'cancel', taskId: task.task_id })
  const cancels = task.cancels + 1
  // A refusal means that the task has ended there.
  if (reading.kind === 'task' || reading.kind === 'refused' || cancels >= LIMITS.outsideCancels)
    return closeTask(work, task)
  const set = { cancels, round: task.round + 1 }
  const write = OutsideTaskEntity.update(task, { set }, { where: { round: task.round } })
  if (await ifUnchanged(work.commit([write]))) await wakeFollower(work, run, set.round, CANCEL_PAUSE)
}
