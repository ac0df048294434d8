import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { ConditionFailed, ifUnchanged } from '#shared/table/entity.ts'
import { type NotificationDelivery, NotificationDeliveryEntity } from './entity.ts'
import type { PersonMessage } from './person-message.ts'

/** Length of the lease, which is longer than a worker may run. */
const LEASE = 70 * SECOND

/** Lease on sending one notification to one recipient. */
export interface DeliveryLease {
  /** Attempts so far, including this one. */
  tries: number
  sent(): Promise<void>
  givenUp(): Promise<void>
  /** Ends the lease, so that another worker can try at once. */
  release(options: { counts: boolean }): Promise<void>
}

/**
 * Takes the lease for this worker.
 * @returns `over` if the message was sent or given up, `leased` while another worker has the lease
 */
export const claimDelivery = async (
  work: WorkerWork,
  { notification_id, user_id }: PersonMessage,
  mostTries: number,
): Promise<DeliveryLease | 'over' | 'leased'> => {
  const { table, clock, requestId: owner } = work
  const key = { notification_id, user_id }
  const now = clock.now()
  const known = await table.get(NotificationDeliveryEntity, key)
  if (known && known.state !== 'sending') return 'over'
  if (known && known.locked_until > now) return 'leased'
  const claimed: NotificationDelivery = {
    ...key,
    state: 'sending',
    tries: (known?.tries ?? 0) + 1,
    owner,
    locked_until: now + LEASE,
    created_at: known?.created_at ?? now,
  }
  const over = claimed.tries > mostTries
  const kept: NotificationDelivery = over ? { ...claimed, state: 'given_up', tries: mostTries } : claimed
  try {
    await table.transact([
      known
        ? NotificationDeliveryEntity.replace(kept, { where: { owner: known.owner, locked_until: known.locked_until } })
        : NotificationDeliveryEntity.create(kept),
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return 'leased'
  }
  if (over) return 'over'
  const write = async (changes: Partial<NotificationDelivery>): Promise<void> => {
    // No effect if the lease expired and another worker took it.
    await ifUnchanged(
      table.transact([NotificationDeliveryEntity.replace({ ...claimed, ...changes }, { where: { owner } })]),
    )
  }
  return {
    tries: claimed.tries,
    sent: () => write({ state: 'sent' }),
    givenUp: () => write({ state: 'given_up' }),
    release: ({ counts }) => write({ locked_until: 0, tries: claimed.tries - (counts ? 0 : 1) }),
  }
}
