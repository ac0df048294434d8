import { INSTALLATION_EVENTS } from '#shared/access/installations/index.ts'
import { A2A_EVENTS } from '#shared/agents/a2a/index.ts'
import { SCHEDULE_EVENTS } from '#shared/agents/schedules/index.ts'
import { TOOL_EVENTS } from '#shared/agents/tools/index.ts'
import { CARD_EVENTS } from '#shared/catalogue/agent-cards/index.ts'
import { LOGO_EVENTS } from '#shared/catalogue/logos/index.ts'
import type { EventDefinition, EventDefinitions } from '#shared/foundation/outbox/index.ts'
import { UPDATES_EVENTS } from '#shared/foundation/updates/index.ts'
import { NOTIFICATION_EVENTS } from '#shared/identity/notifications/index.ts'
import { BOT_EVENTS } from '#shared/messaging/bot/index.ts'
import { MESSENGER_EVENTS } from '#shared/messaging/messenger/index.ts'
import { SUSPENSION_EVENTS } from '#shared/moderation/suspension/index.ts'
import { CONVERSATION_EVENTS } from '#shared/work/conversations/index.ts'
import { RUN_EVENTS } from '#shared/work/runs/index.ts'
import { TASK_EVENTS } from '#shared/work/tasks/index.ts'
import { DELIVERY_EVENTS } from './delivery-events.ts'

/** Every event type of the platform, each declared with its noun. */
export const EVENTS = {
  ...RUN_EVENTS,
  ...NOTIFICATION_EVENTS,
  ...DELIVERY_EVENTS,
  ...TOOL_EVENTS,
  ...SCHEDULE_EVENTS,
  ...A2A_EVENTS,
  ...INSTALLATION_EVENTS,
  ...TASK_EVENTS,
  ...CONVERSATION_EVENTS,
  ...SUSPENSION_EVENTS,
  ...LOGO_EVENTS,
  ...CARD_EVENTS,
  ...MESSENGER_EVENTS,
  ...BOT_EVENTS,
  ...UPDATES_EVENTS,
} as const satisfies EventDefinitions

export type EventType = Exclude<keyof typeof EVENTS, 'custom.*'> | `custom.${string}`

/** Returns the definition of an event type. All custom types share `custom.*`. */
export const definitionOf = (type: string): EventDefinition | undefined =>
  type.startsWith('custom.') ? EVENTS['custom.*'] : (EVENTS as Record<string, EventDefinition>)[type]

/** Returns the masks of a type: `run.*` for `run.succeeded`. */
const masksOf = (type: string): string[] => {
  const words = type.split('.')
  return words.slice(1).map((_, i) => `${words.slice(0, i + 1).join('.')}.*`)
}

/** Matches an event type or mask that a subscription may list. Any name is valid after `custom.`. */
export const maskPattern = (): string => {
  const visible = Object.entries(EVENTS).flatMap(([type, { audience }]) => (audience === 'internal' ? [] : [type]))
  const known = new Set(['*', ...visible, ...visible.flatMap(masksOf)])
  const exact = [...known].map((one) => one.replaceAll(/[.*]/g, '\\$&'))
  return `^(?:${exact.join('|')}|custom(?:\\.[A-Za-z0-9_-]+)+(?:\\.\\*)?)$`
}

/** Length of the longest mask. */
export const MASK_LENGTH = 120

let known: RegExp | undefined

/** Returns true for an event type or mask that a subscription may list. */
export const isMask = (text: string): boolean => {
  known ??= new RegExp(maskPattern())
  return text.length <= MASK_LENGTH && known.test(text)
}
