import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { DeskEntity } from './entity.ts'
import type { DeskOwner } from './views.ts'

const MOST = 300

/** Loads what a person put aside until later, by id. */
export const loadSnoozes = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  owner: DeskOwner,
): Promise<Map<string, number>> => {
  const desk = await table.get(DeskEntity, owner)
  return new Map((desk?.snoozed ?? []).filter(({ until }) => until > clock.now()).map(({ id, until }) => [id, until]))
}

/** Puts waiting items aside for a person until a time, or takes them back. @throws `conflict` for too many */
export const snooze = (
  work: Work,
  owner: DeskOwner,
  { ids, until }: { ids: readonly string[]; until: string | null },
): Promise<object> =>
  retryOnConflict(async () => {
    const [now, end] = [work.clock.now(), until === null ? 0 : Date.parse(until)]
    const desk = await work.table.get(DeskEntity, owner)
    const rest = (desk?.snoozed ?? []).filter((one) => one.until > now && !ids.includes(one.id))
    const snoozed = end > now ? [...rest, ...ids.map((id) => ({ id, until: end }))] : rest
    if (snoozed.length > MOST) throw fail('conflict', { message: `At most ${MOST} items can be snoozed.` })
    const revision = (desk?.revision ?? 0) + 1
    await work.commit(
      [
        DeskEntity.upsert(
          owner,
          { set: { ...owner, snoozed, revision } },
          { where: { revision: desk?.revision ?? missing } },
        ),
      ],
      {},
    )
    return {}
  })
