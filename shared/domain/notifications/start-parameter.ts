import type { Notification } from '../../entities/notifications.ts'

/** What a start parameter may hold (core.telegram.org/bots/features#deep-linking). */
const ALLOWED = /^[\w-]{1,64}$/

/**
 * Where a notification leads, as the start parameter of a link into the messaging app: `<id>`, or `<id>-<step id>` where a
 * step is to be decided. Undefined for one that leads nowhere.
 */
export const startParameter = ({ target }: Pick<Notification, 'target'>): string | undefined => {
  if (!target) return undefined
  const { id, step_id } = target
  const parameter = step_id === undefined ? id : `${id}-${step_id}`
  return ALLOWED.test(parameter) ? parameter : undefined
}
