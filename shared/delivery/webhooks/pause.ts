import { CounterEntity } from '#shared/foundation/claims/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Member } from '#shared/identity/people/index.ts'
import { originIn } from '#shared/kernel/folded-address.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { DeliveryEventType } from '../catalogue/delivery-events.ts'
import {
  type ConnectedWebhook,
  type ConnectedWebhookView,
  loadConnectedWebhook,
  presentConnected,
} from './connected.ts'
import { counterOf } from './create.ts'
import { PauseEntity, type Subscription, SubscriptionEntity } from './entity.ts'
import { PAUSED_TEXT, pausePlace } from './paused.ts'

interface Named {
  installationId: string
  id: string
}

/**
 * Pauses a subscription and all others that the app has at its origin, for an admin of the workspace
 * (contract/events-and-webhooks.md#paused-by-an-admin). The app can't enable, move or delete them, and can't have another
 * one there. The app learns it from `webhook.disabled`. Idempotent.
 * @throws `not_found`
 */
export const pauseWebhook = (work: Work, by: Member, of: Named): Promise<ConnectedWebhookView> =>
  retryOnConflict(async () => {
    const found = await loadConnectedWebhook(work, by.workspace_id, of.installationId, of.id)
    const place = pausePlace(found.webhook)
    // Read before the subscriptions, so that none can arrive unnoticed.
    const counter = await work.table.get(CounterEntity, counterOf(of.installationId))
    const known = await work.table.get(PauseEntity, place)
    if (known) return presentConnected(found)
    const now = work.clock.now()
    const pausing = (webhook: Subscription) => ({
      paused: { at: now, before: webhook.status },
      status: 'disabled' as const,
      generation: webhook.generation + 1,
      last_error: PAUSED_TEXT,
      disabled_at: webhook.disabled_at ?? now,
    })
    const all = await listAtOrigin(work, found)
    return change(work, by, found, 'webhook.paused', pausing, [
      PauseEntity.create({
        ...place,
        installation_id: found.webhook.installation_id,
        webhook_id: of.id,
        paused_at: now,
      }),
      CounterEntity.check(counterOf(of.installationId), { where: { arrivals: counter?.arrivals ?? missing } }),
      ...all.flatMap((webhook) => [
        SubscriptionEntity.update(
          webhook,
          { set: pausing(webhook) },
          // An app that moves it at this moment would take the pause along.
          { where: { status: webhook.status, generation: webhook.generation, url: webhook.url, paused: missing } },
        ),
        emitPaused(work, webhook),
      ]),
    ])
  })

/**
 * Resumes a subscription that an admin paused, and all others at its origin. Each is active again, unless it was disabled
 * before. What was skipped stays skipped until the app recovers it. Idempotent.
 * @throws `not_found`
 */
export const resumeWebhook = (work: Work, by: Member, of: Named): Promise<ConnectedWebhookView> =>
  retryOnConflict(async () => {
    const found = await loadConnectedWebhook(work, by.workspace_id, of.installationId, of.id)
    const place = pausePlace(found.webhook)
    const known = await work.table.get(PauseEntity, place)
    if (!known) return presentConnected(found)
    const resuming = ({ installation_id, paused }: Subscription) => {
      // One of a former installation stays disabled.
      const isActive = installation_id === of.installationId && paused?.before === 'active'
      return {
        paused: undefined,
        status: isActive ? ('active' as const) : ('disabled' as const),
        last_error: null,
        ...(isActive && { consecutive_failures: 0, disabled_at: null }),
      }
    }
    const all = (await listAtOrigin(work, found)).filter(({ paused }) => paused)
    return change(work, by, found, 'webhook.resumed', resuming, [
      PauseEntity.delete(place, { where: { paused_at: known.paused_at } }),
      ...all.map((webhook) =>
        SubscriptionEntity.update(
          webhook,
          { set: resuming(webhook) },
          { where: { status: webhook.status, generation: webhook.generation } },
        ),
      ),
    ])
  })

/** Lists the subscriptions of the app's installation that have the origin of the one that an admin named. */
const listAtOrigin = async ({ table }: Work, { installation, webhook }: ConnectedWebhook): Promise<Subscription[]> => {
  const { items } = await table.query(
    SubscriptionEntity,
    { installation_id: installation.id },
    { limit: LIMITS.webhooksPerInstallation },
  )
  return items.filter(({ url }) => originIn(url) === originIn(webhook.url))
}

const emitPaused = (work: Work, { id, url, workspace_id, installation_id, app_id }: Subscription): Write =>
  emitEvent<DeliveryEventType>(work.clock, {
    type: 'webhook.disabled',
    workspace_id,
    installation_id,
    app_id,
    data: { webhook_id: id, url, last_error: PAUSED_TEXT },
  })

const change = async (
  work: Work,
  by: Member,
  found: ConnectedWebhook,
  action: 'webhook.paused' | 'webhook.resumed',
  changed: (webhook: Subscription) => Partial<Subscription>,
  writes: readonly Write[],
): Promise<ConnectedWebhookView> => {
  const { webhook, installation } = found
  const view = presentConnected({ ...found, webhook: { ...webhook, ...changed(webhook) } })
  await work.commit(
    [
      ...writes,
      auditEntry(work, {
        scope: webhook.workspace_id,
        action,
        actor: { type: 'user', id: by.user_id },
        target: { type: 'webhook', id: webhook.id },
        details: { installation_id: installation.id, origin: originIn(webhook.url) },
      }),
    ],
    view,
  )
  return view
}
