import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import type { Key, Write } from '#shared/table/entity.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { LogoFetchEntity } from './entity.ts'
import type { LogoEventType } from './events.ts'

/** Grace period before a fetch that nobody finished is begun again. */
const OVERDUE = 2 * MINUTE

const emitWanted = ({ clock }: Pick<Work, 'clock'>, owner: string): Write =>
  emitEvent<LogoEventType>(clock, { type: 'logo.wanted', workspace_id: 'platform', data: { owner } })

/**
 * Returns the writes that have an owner's logo fetched. They belong in the transaction that sets its address.
 * @param change `adopts`, `unused`: see {@link LogoFetch}
 */
export const logoFetchWrites = (
  work: Pick<Work, 'clock' | 'id'>,
  owner: string,
  { adopts, unused = [] }: { adopts?: true; unused?: readonly string[] } = {},
): Write[] => [
  LogoFetchEntity.replace({
    owner,
    id: work.id('event'),
    failed: 0,
    adopts,
    ...(unused.length > 0 && { unused: [...unused] }),
    due_at: work.clock.now() + OVERDUE,
  }),
  emitWanted(work, owner),
]

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
