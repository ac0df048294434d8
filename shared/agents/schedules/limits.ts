import { CounterEntity } from '#shared/foundation/claims/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import type { Schedule } from './entity.ts'

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

/** Writes that count a schedule as active. @throws the writes: `conflict` */
export const countActive = ({ workspace_id, installation_id }: Owned): Write[] => [
  take(installation_id, LIMITS.schedulesPerInstallation, 'An agent'),
  take(workspace_id, LIMITS.schedulesPerWorkspace, 'A workspace'),
]

/** Writes for every transaction after which a schedule is no longer active. */
export const countInactive = ({ workspace_id, installation_id }: Owned): Write[] =>
  [installation_id, workspace_id].map((owner) => CounterEntity.update({ owner, counter: COUNTER }, { add: { n: -1 } }))
