import { type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { newSigningSecret } from '../../kernel/signatures.ts'
import type { Work } from '../deps.ts'
import { presentWebhook } from './present.ts'
import { loadWebhook } from './read.ts'
import type { WebhookView } from './schemas.ts'
import { sealSecret, validSecrets } from './secrets.ts'

/** Each valid secret adds a signature to the headers of every delivery. */
const SECRETS_AT_ONCE = 5

/**
 * Gives a subscription a new secret. The one before stays valid for 24 hours, in which both signatures go out
 * (decisions §6).
 * @throws `not_found`; `conflict` when five secrets are valid already, or when another rotation came first
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
      message: `${valid.length} secrets of this subscription are valid, the most there can be.`,
      fix: 'Wait until the oldest one ends, 24 hours after its rotation; or delete the subscription and create a new one.',
    })
  }
  const secret = newSigningSecret('whsec_')
  const secrets: Subscription['secrets'] = [
    { value: await sealSecret(work, id, secret) },
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
