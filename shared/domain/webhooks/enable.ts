import { type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { fail } from '../../kernel/errors.ts'
import { auditEntry } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { presentWebhook } from './present.ts'
import { loadWebhook } from './read.ts'
import type { WebhookView } from './schemas.ts'

/**
 * Enables a disabled subscription: its count of failures begins anew. What was skipped stays so until it is recovered. An
 * active one is left as it is.
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

/** @throws `conflict` while it is disabled: nothing would be sent */
export const requireEnabled = (webhook: Subscription): Subscription => {
  if (webhook.status === 'active') return webhook
  throw fail('conflict', {
    message: 'The subscription is disabled.',
    fix: 'Enable it first, with POST /api/v1/webhooks/{id}/enable.',
  })
}
