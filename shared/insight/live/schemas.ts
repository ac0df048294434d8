import * as z from 'zod'
import type { UpdatesView } from '#shared/foundation/updates/index.ts'

/** Message that a page sends when it opens its live connection, and as its heartbeat. */
export const Hello = () => z.strictObject({ type: z.literal('hello'), token: z.string().max(2_048) })

/** Reason for which the platform closes a connection. */
export type EndReason = 'signed_out' | 'too_many_connections' | 'too_many_messages' | 'invalid_message'

/** Message to a page. */
export type LiveMessage =
  | ({ type: 'updates' } & Pick<UpdatesView, 'version' | 'counts' | 'unread_notifications'>)
  | { type: 'end'; reason: EndReason }

/** Message that the live worker gets: viewers whose pages must hear of a change. */
export const Changed = () => z.object({ workspace_id: z.string(), user_id: z.string().optional() })
