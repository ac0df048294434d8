import type { Deps, WorkerWork } from '#shared/foundation/work/index.ts'
import { type Run, runWakeMessage } from '#shared/work/runs/index.ts'
import { OutsideTaskEntity } from './entity.ts'

/** Has a worker look at an outside agent's task after the delay, unless something else happens to it before. */
export const wakeFollower = (
  { queues }: Pick<WorkerWork, 'queues'>,
  run: Run,
  round: number,
  delayMs: number,
): Promise<void> =>
  queues.send('dispatch', [
    { body: runWakeMessage('run.followed', run, { round }), delayMs, group: run.installation_id },
  ])

/** Has a worker look at the task later because of a notification that came too early. */
export const wakeForNotification = ({ queues }: Pick<WorkerWork, 'queues'>, run: Run, delayMs: number): Promise<void> =>
  queues.send('dispatch', [{ body: runWakeMessage('a2a.task_notified', run), delayMs, group: run.installation_id }])

/** Returns whether the run was sent to an outside agent. */
export const hasOutsideTask = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<boolean> =>
  (await table.get(OutsideTaskEntity, { run_id: run.id })) !== undefined
