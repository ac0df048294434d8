import type { Deps } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { originIn } from '#shared/kernel/folded-address.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Pause, PauseEntity, type Subscription } from './entity.ts'

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

type Place = Pick<Pause, 'workspace_id' | 'app_id' | 'origin'>

/** Key of the pause that a subscription is subject to. */
export const pausePlace = ({
  workspace_id,
  app_id,
  url,
}: Pick<Subscription, 'workspace_id' | 'app_id' | 'url'>): Place => ({ workspace_id, app_id, origin: originIn(url) })

/** Write that refuses a subscription at an origin that is paused for its app. @throws it: `conflict` */
export const notPausedCheck = (webhook: Subscription): Write => {
  const place = pausePlace(webhook)
  return PauseEntity.checkAbsent(place, {
    otherwise: () => pausedWebhook(`An admin of the workspace paused this app’s webhooks at ${place.origin}.`),
  })
}

/** Most pauses of one app that are looked at. Only admins make them. */
const MOST = 100

export const listPauses = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, app_id }: Pick<Pause, 'workspace_id' | 'app_id'>,
): Promise<Pause[]> => {
  const sk = (origin: string) => PauseEntity.key({ workspace_id, app_id, origin }).sk
  const { items } = await table.query(PauseEntity, { workspace_id }, { limit: MOST, from: sk('!'), to: sk('~') })
  return items
}
