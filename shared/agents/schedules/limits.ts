import { isDeepStrictEqual } from 'node:util'
import { CounterEntity } from '#shared/foundation/claims/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import { isTimed, type Schedule, type Trigger, TriggerEntity } from './entity.ts'

type Owned = Pick<Schedule, 'workspace_id' | 'installation_id'>

const COUNTER = 'schedules'

const take = (owner: string, most: number, what: string): Write =>
  CounterEntity.upsert(
    { owner, counter: COUNTER },
    { set: { owner, counter: COUNTER }, add: { n: 1 } },
    {
      where: { n: either(missing, lt(most)) },
      otherwise: () =>
        fail('conflict', {
          message: `${what} can have at most ${most} active schedules.`,
          fix: 'Pause or delete a schedule.',
        }),
    },
  )

const countActive = ({ workspace_id, installation_id }: Owned): Write[] => [
  take(installation_id, LIMITS.schedulesPerInstallation, 'An agent'),
  take(workspace_id, LIMITS.schedulesPerWorkspace, 'A workspace'),
]

const countInactive = ({ workspace_id, installation_id }: Owned): Write[] =>
  [installation_id, workspace_id].map((owner) => CounterEntity.update({ owner, counter: COUNTER }, { add: { n: -1 } }))

const triggerOf = (schedule: Schedule | undefined): Trigger | undefined => {
  if (schedule?.status !== 'active' || isTimed(schedule.when)) return undefined
  const { workspace_id, installation_id, id: schedule_id, when } = schedule
  return { workspace_id, installation_id, schedule_id, ...when }
}

/**
 * Writes for every transaction that creates, changes or deletes a schedule: whether it counts as active, and the record by which
 * events find it.
 * @throws the writes: `conflict`
 */
export const activityWrites = (before: Schedule | undefined, after: Schedule | undefined): Write[] => {
  const wasActive = before?.status === 'active'
  const isActive = after?.status === 'active'
  const [old, trigger] = [triggerOf(before), triggerOf(after)]
  return [
    ...(after && isActive && !wasActive ? countActive(after) : []),
    ...(before && wasActive && !isActive ? countInactive(before) : []),
    ...(trigger && !isDeepStrictEqual(trigger, old) ? [TriggerEntity.replace(trigger)] : []),
    ...(old && !trigger ? [TriggerEntity.delete(old)] : []),
  ]
}
