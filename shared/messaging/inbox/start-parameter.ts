import type { Notification } from '#shared/identity/notifications/index.ts'

/** Characters and length allowed in a start parameter (core.telegram.org/bots/features#deep-linking). */
const ALLOWED = /^[\w-]{1,64}$/

/**
 * Returns a notification's target as the start parameter of a Telegram link: `<id>`, or `<id>-<step id>` if a step needs
 * a decision. Undefined for a notification without a target.
 */
export const startParameter = ({ target }: Pick<Notification, 'target'>): string | undefined => {
  if (!target) return undefined
  const { id, step_id } = target
  const parameter = step_id === undefined ? id : `${id}-${step_id}`
  return ALLOWED.test(parameter) ? parameter : undefined
}
