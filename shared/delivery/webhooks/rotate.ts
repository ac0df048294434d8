import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSigningSecret } from '#shared/kernel/signatures.ts'
import { type Subscription, SubscriptionEntity } from './entity.ts'
import { presentWebhook } from './present.ts'
import { loadWebhook } from './read.ts'
import type { WebhookView } from './schemas.ts'
import { sealSecret, validSecrets } from './secrets.ts'

/** Maximum number of valid secrets. Each adds a signature to the headers of every delivery. */
const SECRETS_AT_ONCE = 5

/**
 * Gives a subscription a new secret. The previous one stays valid for 24 hours, during which both sign every delivery
 * (contract/events-and-webhooks.md#secret-rotation).
 * @throws `not_found`; `conflict` if five secrets are already valid, or if another rotation came first
 */
export const rotateSecret = async (
  work: Work,
  installationId: string,
  id: string,
): Promise<WebhookView & { secret: string }> => {
  const webhook = await loadWebhook(work, installationId, id)
  const now = work.clock.now()
  const valid = validSecrets(webhook, now)
  if (valid.length >= SECRETS_AT_ONCE) {
    throw fail('conflict', {
      message: `The subscription has ${valid.length} valid secrets, which is the limit.`,
      fix: 'Wait until the oldest secret expires, 24 hours after its rotation, or delete the subscription and create a new one.',
    })
  }
  const secret = newSigningSecret('whsec_')
  const secrets: Subscription['secrets'] = [
    { value: await sealSecret(work, webhook, secret) },
    ...valid.map(({ value, until }) => ({ value, until: until ?? now + LIMITS.secretOverlap })),
  ]
  const view = { ...presentWebhook(webhook), secret }
  await work.commit(
    [
      SubscriptionEntity.update(
        webhook,
        { set: { secrets, secret_version: webhook.secret_version + 1 } },
        {
          where: { secret_version: webhook.secret_version },
          otherwise: () => fail('conflict', { message: 'The secret was rotated by another request.' }),
        },
      ),
    ],
    view,
  )
  return view
}
