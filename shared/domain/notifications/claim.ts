import { type ToldPerson, ToldPersonEntity } from '../../entities/inbox.ts'
import type { PersonMessage } from '../../events/queues.ts'
import { SECOND } from '../../kernel/clock.ts'
import { ConditionFailed, ifUnchanged } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'

/** Longer than a worker may run. */
const HOLD = 70 * SECOND

/** The right to tell one person of one notification. */
export interface Telling {
  /** Messages begun, this one included. */
  tries: number
  sent(): Promise<void>
  givenUp(): Promise<void>
  /** Lets another worker try at once. */
  release(options: { counts: boolean }): Promise<void>
}

/**
 * Takes the right for this worker.
 * @returns `over` when it was done or given up, `held` while another worker has it
 */
export const claimTelling = async (
  work: WorkerWork,
  { notification_id, user_id }: PersonMessage,
  mostTries: number,
): Promise<Telling | 'over' | 'held'> => {
  const { table, clock, requestId: owner } = work
  const key = { notification_id, user_id }
  const now = clock.now()
  const known = await table.get(ToldPersonEntity, key)
  if (known && known.state !== 'sending') return 'over'
  if (known && known.locked_until > now) return 'held'
  const claimed: ToldPerson = {
    ...key,
    state: 'sending',
    tries: (known?.tries ?? 0) + 1,
    owner,
    locked_until: now + HOLD,
    created_at: known?.created_at ?? now,
  }
  const over = claimed.tries > mostTries
  const kept: ToldPerson = over ? { ...claimed, state: 'given_up', tries: mostTries } : claimed
  try {
    await table.transact([
      known
        ? ToldPersonEntity.replace(kept, { where: { owner: known.owner, locked_until: known.locked_until } })
        : ToldPersonEntity.create(kept),
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return 'held'
  }
  if (over) return 'over'
  const write = async (changes: Partial<ToldPerson>): Promise<void> => {
    // Unless it took so long that another worker has it.
    await ifUnchanged(table.transact([ToldPersonEntity.replace({ ...claimed, ...changes }, { where: { owner } })]))
  }
  return {
    tries: claimed.tries,
    sent: () => write({ state: 'sent' }),
    givenUp: () => write({ state: 'given_up' }),
    release: ({ counts }) => write({ locked_until: 0, tries: claimed.tries - (counts ? 0 : 1) }),
  }
}
