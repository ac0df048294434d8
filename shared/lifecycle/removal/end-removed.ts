import { endGrantWrites, type Grant, GrantEntity } from '#shared/access/grants/index.ts'
import { type Removal, RemovalEntity, unsetPrimaryWrites } from '#shared/access/installations/index.ts'
import { endWrites, ScheduleEntity, schedulesOf } from '#shared/agents/schedules/index.ts'
import { type Subscription, SubscriptionEntity } from '#shared/delivery/webhooks/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { type AnyEntity, ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { eachItem } from '#shared/table/pages.ts'
import { finishIf, listActiveRuns } from '#shared/work/runs/index.ts'

/**
 * Time for which requests admitted before the uninstallation may still write. Only a round that starts later finds
 * everything.
 */
const STILL_WRITING = MINUTE

/**
 * Ends what a removed installation left behind. Nothing of it can act any more; this updates the records. Active runs
 * become `cancelled`, each with its event, which voids pending approvals. Grants are revoked, schedules end, and webhook
 * subscriptions are disabled. Waiting deliveries are skipped when they are due.
 *
 * It may be woken twice, run late, or stop anywhere, because each record changes conditionally. The removal is done
 * only when a whole round finds that no other request can still write.
 */
export const endRemovedInstallation = async (work: WorkerWork, installationId: string): Promise<void> => {
  const removal = await work.table.get(RemovalEntity, { installation_id: installationId })
  if (!removal || removal.done_at !== undefined) return
  const begun = work.clock.now()
  await endRuns(work, removal)
  await endEach(work, GrantEntity, removal, (grant: Grant) =>
    grant.status === 'active' ? endGrantWrites(work, { ...grant, grant_id: grant.id }, 'uninstalled', removal.by) : [],
  )
  await endEach(work, SubscriptionEntity, removal, (webhook: Subscription) => endOfWebhook(webhook, begun))
  const schedules = eachItem((after) =>
    work.table.listed(ScheduleEntity, schedulesOf(installationId), { limit: PAGE, after }),
  )
  for await (const schedule of schedules) {
    if (schedule.status !== 'ended') await commitUnlessChanged(work, endWrites(schedule, {}, begun))
  }
  const workspace = await work.table.get(WorkspaceEntity, { id: removal.workspace_id })
  await commitUnlessChanged(work, unsetPrimaryWrites(workspace, installationId))
  if (begun < removal.created_at + STILL_WRITING) return
  await commitUnlessChanged(work, [
    RemovalEntity.update(
      removal,
      { set: { done_at: begun, due_at: undefined } },
      { where: { due_at: removal.due_at } },
    ),
  ])
}

/** Handles an overdue removal with a round that finds all late writes. */
export const handleOverdueRemoval = async (work: WorkerWork, key: Key): Promise<void> => {
  const removal = await work.table.getByKey(RemovalEntity, key)
  if (removal?.due_at === undefined || removal.due_at > work.clock.now()) return
  await endRemovedInstallation(work, removal.installation_id)
}

const endRuns = async (work: WorkerWork, { installation_id }: Removal): Promise<void> => {
  for (const id of await listActiveRuns(work, installation_id)) {
    await finishIf(work, { installation_id, id }, () => true, { status: 'cancelled' })
  }
}

const PAGE = 50

/** Runs `act` on every record of a kind that the installation has, one page at a time. */
const endEach = async <T>(
  work: WorkerWork,
  entity: AnyEntity,
  { installation_id }: Removal,
  end: (record: T) => Write[],
): Promise<void> => {
  const records = eachItem((after) => work.table.query(entity, { installation_id }, { limit: PAGE, after }))
  for await (const record of records) await commitUnlessChanged(work, end(record as T))
}

/**
 * Returns the write that disables a subscription. Every disabling increments the generation, which skips waiting
 * deliveries.
 */
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

/** Ignores records that were ended or changed at the same moment. The next round examines them. */
const commitUnlessChanged = async (work: WorkerWork, writes: readonly Write[]): Promise<void> => {
  if (writes.length === 0) return
  await ifUnchanged(work.commit(writes))
}
