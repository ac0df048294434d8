import * as z from 'zod'
import type { Deps, WorkerWork } from '#shared/foundation/work/index.ts'
import type { Run } from '#shared/work/runs/index.ts'
import { OutsideTaskEntity } from './entity.ts'

/** Message for `dispatch`, to check an outside agent's task: in its round, or because of a notification. */
export const FollowMessage = () =>
  z.object({
    kind: z.literal('follow'),
    run_id: z.string(),
    installation_id: z.string(),
    round: z.number().optional(),
  })

type FollowMessage = z.infer<ReturnType<typeof FollowMessage>>

const sendLater = async (
  { queues }: Pick<WorkerWork, 'queues'>,
  { id: run_id, installation_id }: Run,
  delayMs: number,
  round?: number,
): Promise<void> => {
  const body: FollowMessage = { kind: 'follow', run_id, installation_id, round }
  await queues.send('dispatch', [{ body, delayMs, group: installation_id }])
}

/** Wakes a worker to check an outside agent's task after the delay, unless something else happens to it before. */
export const wakeFollower = (
  work: Pick<WorkerWork, 'queues'>,
  run: Run,
  round: number,
  delayMs: number,
): Promise<void> => sendLater(work, run, delayMs, round)

/** Wakes a worker to check the task later, because a notification came too early. */
export const wakeForNotification = (work: Pick<WorkerWork, 'queues'>, run: Run, delayMs: number): Promise<void> =>
  sendLater(work, run, delayMs)

/** Returns whether the run was sent to an outside agent. */
export const hasOutsideTask = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<boolean> =>
  (await table.get(OutsideTaskEntity, { run_id: run.id })) !== undefined
