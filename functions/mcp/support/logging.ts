import { LOG_LEVELS } from '#shared/work/runs/index.ts'
import type { Outbox } from './outbox.ts'
import { type Lane, META, type Message } from './protocol.ts'

/**
 * Log messages to the client. Deprecated since 2026-07-28. To end them, delete this file and what imports it.
 */

/** Capabilities that the handshake of the older versions offers. */
export const LOGGING = { logging: {} }

/** Takes a level, which has no effect: those versions have no state in which it could be kept. */
export const SET_LEVEL = 'logging/setLevel'

/** Least severe level that clients of the older versions get: they name none in a request. */
const LEGACY_LEVEL = 'info'

const rankOf = (level: unknown): number => (LOG_LEVELS as readonly unknown[]).indexOf(level)

/** Returns a function that sends a run's `log` steps from the level that the client wants. Undefined if it wants none. */
export const createLogger = (
  { lane, outbox }: { lane: Lane; outbox: Outbox },
  { meta }: Pick<Message, 'meta'>,
): ((entry: { level: string; data?: unknown; logger?: string | undefined }) => void) | undefined => {
  const least = rankOf(lane.isModern ? meta[META.logLevel] : LEGACY_LEVEL)
  if (least < 0) return undefined
  return ({ level, data, logger }) => {
    if (rankOf(level) >= least)
      outbox.notify('notifications/message', { level, data, ...(logger !== undefined && { logger }) })
  }
}
