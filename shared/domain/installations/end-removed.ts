import { type Grant, GrantEntity, type Removal, RemovalEntity } from '../../entities/installations.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { type AnyEntity, ifUnchanged, type Key, type Write } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { endOfGrant } from '../oauth/revoke-chain.ts'
import { activeRunsOf } from '../runs/chain.ts'
import { finishIf } from '../runs/finish.ts'
import { noLongerPrimary } from './remove.ts'

/**
 * How long requests that were let in before the app was uninstalled may still write. Only what is found after that was
 * found for good.
 */
const STILL_WRITING = MINUTE

/**
 * Ends what a removed installation left behind. Nothing of it can act any more; this makes the records say so: active runs
 * become `cancelled` and tell of it, with them pending approvals are void, grants are revoked, webhook subscriptions
 * disabled. Waiting deliveries are skipped as their turn comes.
 *
 * It may be woken twice, late, or stop anywhere: each record is changed under the condition that it is not yet, and the
 * removal is done only when a whole round found nothing left to be written by anybody else.
 */
export const endRemoved = async (work: WorkerWork, installationId: string): Promise<void> => {
  const removal = await work.table.get(RemovalEntity, { installation_id: installationId })
  if (!removal || removal.done_at !== undefined) return
  const begun = work.clock.now()
  await endRuns(work, removal)
  await endEach(work, GrantEntity, removal, (grant: Grant) =>
    grant.status === 'active' ? endOfGrant(work, { ...grant, grant_id: grant.id }, 'uninstalled', removal.by) : [],
  )
  await endEach(work, SubscriptionEntity, removal, (webhook: Subscription) => endOfWebhook(webhook, begun))
  const workspace = await work.table.get(WorkspaceEntity, { id: removal.workspace_id })
  await unlessChanged(work, noLongerPrimary(workspace, installationId))
  if (begun < removal.created_at + STILL_WRITING) return
  await unlessChanged(work, [
    RemovalEntity.update(
      removal,
      { set: { done_at: begun, due_at: undefined } },
      { where: { due_at: removal.due_at } },
    ),
  ])
}

/** What the sweep does about a removal: a round that finds all that was written late. */
export const handleOverdueRemoval = async (work: WorkerWork, key: Key): Promise<void> => {
  const removal = await work.table.getByKey(RemovalEntity, key)
  if (removal?.due_at === undefined || removal.due_at > work.clock.now()) return
  await endRemoved(work, removal.installation_id)
}

const endRuns = async (work: WorkerWork, { installation_id }: Removal): Promise<void> => {
  for (const id of await activeRunsOf(work, installation_id)) {
    await finishIf(work, { installation_id, id }, () => true, { status: 'cancelled' })
  }
}

const PAGE = 50

/** Every record of a kind that the installation has, a page at a time. */
const endEach = async <T>(
  work: WorkerWork,
  entity: AnyEntity,
  { installation_id }: Removal,
  end: (record: T) => Write[],
): Promise<void> => {
  let after: string | undefined
  do {
    const page = await work.table.query(entity, { installation_id }, { limit: PAGE, after })
    for (const record of page.items) await unlessChanged(work, end(record as T))
    after = page.next
  } while (after !== undefined)
}

/** Any disabling raises the generation, by which a waiting delivery is skipped. */
const endOfWebhook = (webhook: Subscription, now: number): Write[] =>
  webhook.status === 'disabled'
    ? []
    : [
        SubscriptionEntity.update(
          webhook,
          {
            set: {
              status: 'disabled',
              generation: webhook.generation + 1,
              last_error: 'The app was uninstalled.',
              disabled_at: now,
            },
          },
          { where: { status: 'active', generation: webhook.generation } },
        ),
      ]

/** What somebody else ended or changed in the same moment is looked at in the next round. */
const unlessChanged = async (work: WorkerWork, writes: readonly Write[]): Promise<void> => {
  if (writes.length === 0) return
  await ifUnchanged(work.commit(writes))
}
