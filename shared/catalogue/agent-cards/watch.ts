import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { CardWatchEntity } from './entity.ts'
import type { CardEventType } from './events.ts'

/** Pause between the checks of a card. */
export const CHECK_PAUSE = DAY
/** Grace period before an unfinished check is repeated. */
const OVERDUE = 10 * MINUTE

/**
 * Returns the writes by which the card of an app's newest version is checked each day, or no card anymore. They belong in the
 * transaction that publishes the version.
 */
export const watchWrites = (
  { clock }: Pick<Work, 'clock'>,
  { id: app_id, newest_version_id }: { id: string; newest_version_id?: string | undefined },
  version: { id: string },
  cardUrl: string | undefined,
): Write[] => {
  // The first version of most apps has no card, and no earlier one had.
  if (cardUrl === undefined) return newest_version_id === undefined ? [] : [CardWatchEntity.delete({ app_id })]
  const check_at = clock.now() + CHECK_PAUSE
  const watch = { app_id, version_id: version.id, card_url: cardUrl, check_at, failed: 0, due_at: check_at }
  return [CardWatchEntity.replace(watch)]
}

/** Handles a check that is due: wakes a worker for it. */
export const handleDueCard = async (work: Pick<Work, 'table' | 'clock' | 'commit'>, key: Key): Promise<void> => {
  const watch = await work.table.getByKey(CardWatchEntity, key)
  const now = work.clock.now()
  if (watch?.due_at === undefined || watch.due_at > now) return
  const { app_id, due_at } = watch
  await ifUnchanged(
    work.commit([
      CardWatchEntity.update(watch, { set: { due_at: now + OVERDUE } }, { where: { due_at } }),
      emitEvent<CardEventType>(work.clock, {
        type: 'agent_card.due',
        workspace_id: 'platform',
        app_id,
        data: { app_id },
      }),
    ]),
  )
}
