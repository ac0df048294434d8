import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { idTime, newId } from '#shared/kernel/ids.ts'
import type { Key, Write } from '#shared/table/entity.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type LogoFetch, LogoFetchEntity } from './entity.ts'
import type { LogoEventType } from './events.ts'

/** Grace period before an unfinished fetch is repeated. */
const OVERDUE = 2 * MINUTE

const emitWanted = ({ clock }: Pick<Work, 'clock'>, owner: string): Write =>
  emitEvent<LogoEventType>(clock, { type: 'logo.wanted', workspace_id: 'platform', data: { owner } })

/**
 * Returns the writes that have an owner's logo fetched. They belong in the transaction that sets its address.
 * @param unused images to delete, unless their owner needs them again by then
 */
export const logoFetchWrites = async (
  work: Pick<Work, 'clock' | 'table'>,
  owner: string,
  unused: readonly string[] = [],
): Promise<Write[]> => [await requestWrite(work, owner, unused), emitWanted(work, owner)]

/**
 * Returns the write that has an image deleted unless its owner shows it by then. It is committed before the image is stored, because
 * a process that dies in between would leave an image that nothing refers to.
 */
export const newImageMark = (work: Pick<Work, 'clock' | 'table'>, owner: string, hash: string): Promise<Write> =>
  requestWrite(work, owner, [hash])

/** Replaces the request of an owner, which may name images whose deletion still waits: none of them is forgotten. */
const requestWrite = async (
  work: Pick<Work, 'clock' | 'table'>,
  owner: string,
  unused: readonly string[],
): Promise<Write> => {
  const waiting = await work.table.get(LogoFetchEntity, { owner })
  const all = [...new Set([...(waiting?.unused ?? []), ...unused])]
  // With a new id, so that the end of a fetch that has begun doesn't end this one.
  const now = work.clock.now()
  const request = { owner, id: newId('event', now), failed: 0, due_at: now + OVERDUE }
  return LogoFetchEntity.replace(
    { ...request, ...(all.length > 0 && { unused: all }) },
    { where: { id: waiting?.id ?? missing, unused: waiting?.unused ?? missing } },
  )
}

/** Reports whether an image of this request may still be on its way: its deletion is requested before it is stored. */
export const isOnItsWay = ({ clock }: Pick<Work, 'clock'>, { id }: LogoFetch): boolean =>
  clock.now() < idTime(id) + OVERDUE

/** Handles an overdue fetch: begins it again. */
export const handleOverdueLogoFetch = async (
  work: Pick<Work, 'table' | 'clock' | 'commit'>,
  key: Key,
): Promise<void> => {
  const fetch = await work.table.getByKey(LogoFetchEntity, key)
  const now = work.clock.now()
  if (fetch?.due_at === undefined || fetch.due_at > now) return
  const { owner, id, due_at } = fetch
  await ifUnchanged(
    work.commit([
      LogoFetchEntity.update({ owner }, { set: { due_at: now + OVERDUE } }, { where: { id, due_at } }),
      emitWanted(work, owner),
    ]),
  )
}
