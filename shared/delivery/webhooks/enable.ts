import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { type Subscription, SubscriptionEntity } from './entity.ts'
import { presentWebhook } from './present.ts'
import { loadWebhook } from './read.ts'
import type { WebhookView } from './schemas.ts'

/**
 * Enables a disabled subscription and resets its failure count. Skipped deliveries stay skipped until they are
 * recovered. Leaves an active subscription unchanged.
 * @throws `not_found`
 */
export const enableWebhook = async (work: Work, installationId: string, id: string): Promise<WebhookView> => {
  const webhook = await loadWebhook(work, installationId, id)
  if (webhook.status === 'active') return presentWebhook(webhook)
  const changes = { status: 'active' as const, consecutive_failures: 0, last_error: null, disabled_at: null }
  const view = presentWebhook({ ...webhook, ...changes })
  await work.commit(
    [
      SubscriptionEntity.update(
        webhook,
        { set: changes },
        {
          where: { status: 'disabled', generation: webhook.generation },
          otherwise: () => fail('conflict', { message: 'The subscription was changed by another request.' }),
        },
      ),
      auditEntry(work, {
        scope: webhook.workspace_id,
        action: 'webhook.enabled',
        actor: { type: 'installation', id: installationId },
        target: { type: 'webhook', id },
      }),
    ],
    view,
  )
  return view
}

/**
 * Returns the subscription if it is enabled.
 * @throws `conflict` if it is disabled, because nothing would be sent
 */
export const requireEnabled = (webhook: Subscription): Subscription => {
  if (webhook.status === 'active') return webhook
  throw fail('conflict', {
    message: 'The subscription is disabled.',
    fix: 'Enable the subscription first with POST /api/v1/webhooks/{id}/enable.',
  })
}
