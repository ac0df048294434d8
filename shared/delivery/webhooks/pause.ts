import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Member } from '#shared/identity/people/index.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { DeliveryEventType } from '../catalogue/delivery-events.ts'
import {
  type ConnectedWebhook,
  type ConnectedWebhookView,
  loadConnectedWebhook,
  presentConnected,
} from './connected.ts'
import { type Subscription, SubscriptionEntity } from './entity.ts'
import { PAUSED_TEXT } from './paused.ts'

interface Named {
  installationId: string
  id: string
}

/**
 * Pauses a subscription for an admin of the workspace (contract/events-and-webhooks.md#paused-by-an-admin). The app can't
 * enable, move or delete it. The app learns it from `webhook.disabled`. Idempotent.
 * @throws `not_found`
 */
export const pauseWebhook = (work: Work, by: Member, of: Named): Promise<ConnectedWebhookView> =>
  retryOnConflict(async () => {
    const found = await loadConnectedWebhook(work, by.workspace_id, of.installationId, of.id)
    const { webhook } = found
    if (webhook.paused) return presentConnected(found)
    const now = work.clock.now()
    return change(work, by, found, {
      action: 'webhook.paused',
      set: {
        paused: { at: now, before: webhook.status },
        status: 'disabled',
        generation: webhook.generation + 1,
        last_error: PAUSED_TEXT,
        disabled_at: webhook.disabled_at ?? now,
      },
    })
  })

/**
 * Resumes a subscription that an admin paused. It is active again, unless it was disabled before. What was skipped stays
 * skipped until the app recovers it. Idempotent.
 * @throws `not_found`
 */
export const resumeWebhook = (work: Work, by: Member, of: Named): Promise<ConnectedWebhookView> =>
  retryOnConflict(async () => {
    const found = await loadConnectedWebhook(work, by.workspace_id, of.installationId, of.id)
    const { paused } = found.webhook
    if (!paused) return presentConnected(found)
    const isActive = paused.before === 'active'
    return change(work, by, found, {
      action: 'webhook.resumed',
      set: {
        paused: undefined,
        status: paused.before,
        last_error: null,
        ...(isActive && { consecutive_failures: 0, disabled_at: null }),
      },
    })
  })

const change = async (
  work: Work,
  by: Member,
  found: ConnectedWebhook,
  { action, set }: { action: 'webhook.paused' | 'webhook.resumed'; set: Partial<Subscription> },
): Promise<ConnectedWebhookView> => {
  const { webhook } = found
  const { id, url, workspace_id, installation_id, app_id, status, generation, paused } = webhook
  const view = presentConnected({ ...found, webhook: { ...webhook, ...set } })
  await work.commit(
    [
      SubscriptionEntity.update(
        webhook,
        { set },
        { where: { status, generation, ...(paused ? {} : { paused: missing }) } },
      ),
      ...(action === 'webhook.paused'
        ? [
            emitEvent<DeliveryEventType>(work.clock, {
              type: 'webhook.disabled',
              workspace_id,
              installation_id,
              app_id,
              data: { webhook_id: id, url, last_error: PAUSED_TEXT },
            }),
          ]
        : []),
      auditEntry(work, {
        scope: workspace_id,
        action,
        actor: { type: 'user', id: by.user_id },
        target: { type: 'webhook', id },
        details: { installation_id },
      }),
    ],
    view,
  )
  return view
}
