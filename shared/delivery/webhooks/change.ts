import type { Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { requireReadable } from '../catalogue/readable.ts'
import { addressWrites, checkAddress, moved, type Subscriber } from './create.ts'
import { type Subscription, SubscriptionEntity } from './entity.ts'
import { requireNotPaused } from './paused.ts'
import { presentWebhook } from './present.ts'
import { loadWebhook } from './read.ts'
import type { ChangeWebhook, WebhookView } from './schemas.ts'

const changedMeanwhile = (): PlatformError =>
  fail('conflict', { message: 'The subscription was changed by another request.', fix: 'Send the request again.' })

/**
 * Returns the fields that follow from a new status. Disabling increments the generation, which skips waiting deliveries
 * without a write to each.
 */
const statusFields = (webhook: Subscription, status: Subscription['status'] | undefined, now: number) => {
  if (status === undefined || status === webhook.status) return {}
  return status === 'disabled'
    ? { status, generation: webhook.generation + 1, last_error: null, disabled_at: now }
    : { status, consecutive_failures: 0, last_error: null, disabled_at: null }
}

/**
 * Changes a subscription: its address, masks, filter, pace, description, or whether it is enabled. Waiting deliveries go to a new
 * address. Its failures don't count against the new one.
 * @throws `not_found`, `insufficient_scope`, `blocked_target`; `conflict` for an address that a sandbox already has, or if
 *   the subscription changed meanwhile, and for enabling or moving one that an admin paused, or moving one to its origin
 */
export const changeWebhook = async (
  work: Work,
  { installation, ...holder }: Subscriber,
  id: string,
  { url, events, description, status, filter, max_per_minute }: ChangeWebhook,
): Promise<WebhookView> => {
  const webhook = await loadWebhook(work, installation.id, id)
  if (status === 'active' || url !== undefined) requireNotPaused(webhook)
  if (events) requireReadable(events, holder)
  const isMoved = url !== undefined && url !== webhook.url
  if (isMoved) checkAddress(work, url)
  const set = {
    ...(isMoved && { url, consecutive_failures: 0 }),
    ...(events && { events: [...new Set(events)] }),
    ...(description !== undefined && { description }),
    ...(filter !== undefined && { filter: filter ?? undefined }),
    ...(max_per_minute !== undefined && { max_per_minute: max_per_minute ?? undefined }),
    ...statusFields(webhook, status, work.clock.now()),
  }
  const changed: Subscription = { ...webhook, ...set }
  const view = presentWebhook(changed)
  const isSame = JSON.stringify(view) === JSON.stringify(presentWebhook(webhook))
  if (isSame) return view
  await work.commit(
    [
      SubscriptionEntity.update(
        webhook,
        { set },
        { where: { status: webhook.status, generation: webhook.generation }, otherwise: changedMeanwhile },
      ),
      ...(isMoved ? [moved(installation.id), ...(await addressWrites(work, installation, changed))] : []),
      auditEntry(work, {
        scope: webhook.workspace_id,
        action: changed.status === webhook.status ? 'webhook.updated' : `webhook.${statusWord(changed)}`,
        actor: { type: 'installation', id: installation.id },
        target: { type: 'webhook', id },
        details: { fields: Object.keys(set).filter((field) => SHOWN.has(field)) },
      }),
    ],
    view,
  )
  return view
}

const SHOWN: ReadonlySet<string> = new Set(['url', 'events', 'description', 'filter', 'max_per_minute', 'status'])

const statusWord = ({ status }: Subscription) => (status === 'active' ? 'enabled' : 'disabled')

/**
 * Enables a disabled subscription and resets its failure count. Skipped deliveries stay skipped until they are
 * recovered. Leaves an active subscription unchanged.
 * @throws `not_found`; `conflict` if an admin paused it
 */
export const enableWebhook = (work: Work, subscriber: Subscriber, id: string): Promise<WebhookView> =>
  changeWebhook(work, subscriber, id, { status: 'active' })

/**
 * Returns the subscription if it is enabled.
 * @throws `conflict` if it is disabled, because nothing would be sent
 */
export const requireEnabled = (webhook: Subscription): Subscription => {
  if (webhook.status === 'active') return webhook
  requireNotPaused(webhook)
  throw fail('conflict', {
    message: 'The subscription is disabled.',
    fix: 'Enable the subscription first with POST /api/v1/webhooks/{id}/enable.',
  })
}
