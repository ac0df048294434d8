import { CounterEntity } from '../../entities/developers.ts'
import type { Installation } from '../../entities/installations.ts'
import { type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { newSigningSecret } from '../../kernel/signatures.ts'
import type { Write } from '../../table/entity.ts'
import { either, exists, lt, missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { presentWebhook } from './present.ts'
import { noWebhook } from './read.ts'
import type { CreateWebhook, WebhookView } from './schemas.ts'
import { sealSecret } from './secrets.ts'

/** The counter that keeps an installation's subscriptions at twenty, exactly, under any concurrency. */
const counterOf = (installationId: string) => ({ owner: installationId, counter: 'webhooks' })

/**
 * Creates a subscription. Its address is checked for form and forbidden literals here; its name is resolved, and every
 * address checked, at each request (decisions §6 "Forbidden targets").
 * @returns the subscription with its secret, which is never shown again
 * @throws `blocked_target`, `webhook_limit_reached`
 */
export const createWebhook = async (
  work: Work,
  installation: Installation,
  input: CreateWebhook,
): Promise<WebhookView & { secret: string }> => {
  const reason = work.http.checkAddress(input.url)
  if (reason !== undefined) {
    throw fail('blocked_target', {
      message: `url is forbidden. ${reason}`,
      details: { reason, fields: { url: [reason] } },
    })
  }
  const id = work.id('webhook')
  const secret = newSigningSecret('whsec_')
  const webhook: Subscription = {
    id,
    installation_id: installation.id,
    workspace_id: installation.workspace_id,
    app_id: installation.app_id,
    url: input.url,
    events: [...new Set(input.events)],
    description: input.description,
    status: 'active',
    last_error: null,
    consecutive_failures: 0,
    secrets: [{ value: await sealSecret(work, id, secret) }],
    secret_version: 1,
    generation: 1,
    created_at: work.clock.now(),
    disabled_at: null,
  }
  const view = { ...presentWebhook(webhook), secret }
  await work.commit([SubscriptionEntity.create(webhook), oneMore(installation.id)], view)
  return view
}

const oneMore = (installationId: string): Write =>
  CounterEntity.upsert(
    counterOf(installationId),
    { set: counterOf(installationId), add: { n: 1 } },
    {
      where: { n: either(missing, lt(LIMITS.webhooksPerInstallation)) },
      otherwise: () =>
        fail('webhook_limit_reached', {
          message: `The installation has ${LIMITS.webhooksPerInstallation} webhook subscriptions, the most there can be.`,
        }),
    },
  )

/**
 * Removes a subscription; what still waits to be delivered to it is dropped.
 * @throws `not_found`
 */
export const deleteWebhook = async (work: Work, installation_id: string, id: string): Promise<void> => {
  await work.commit([
    SubscriptionEntity.delete({ installation_id, id }, { where: { id: exists }, otherwise: noWebhook }),
    CounterEntity.update(counterOf(installation_id), { add: { n: -1 } }),
  ])
}
