import type { Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type Subscription, SubscriptionEntity } from './entity.ts'

/** `last_error` of a subscription that an admin paused. */
export const PAUSED_TEXT = 'An admin of the workspace paused this subscription. Only an admin can resume it.'

/** Error for what an app can't do with a paused subscription. */
export const pausedWebhook = (message = 'An admin of the workspace paused this subscription.'): PlatformError =>
  fail('conflict', {
    message,
    fix: 'Ask an admin of the workspace to resume it under “Connected apps” in the console.',
    details: { reason: 'paused_by_admin' },
  })

/** @throws `conflict` */
export const requireNotPaused = ({ paused }: Subscription): void => {
  if (paused) throw pausedWebhook()
}

/**
 * Refuses the address of one of the installation's paused subscriptions, so that an app can't replace it by another one.
 * @throws `conflict`
 */
export const refusePausedAddress = async ({ table }: Pick<Work, 'table'>, installation_id: string, url: string) => {
  const { href } = new URL(url)
  const { items } = await table.query(
    SubscriptionEntity,
    { installation_id },
    { limit: LIMITS.webhooksPerInstallation },
  )
  const same = items.find((webhook) => webhook.paused && new URL(webhook.url).href === href)
  if (!same) return
  throw pausedWebhook(`An admin of the workspace paused the subscription ${same.id}, which has this address.`)
}
