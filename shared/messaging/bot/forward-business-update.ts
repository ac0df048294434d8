import * as z from 'zod'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { BotUpdateEntity } from './entity.ts'
import type { BotEventType } from './events.ts'
import type { BotUpdateInput } from './schemas.ts'
import { answeredUpdate } from './update-lease.ts'

/** Kinds of updates about people's Business connections with the bot. */
const KINDS = [
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
] as const

/** A `BusinessConnection` has the first shape, its messages have the second. */
const OfConnection = () => z.object({ id: z.string() }).or(z.object({ business_connection_id: z.string() }))

/** Larger than any text with its quotes. The limit matters because the event carries the update. */
const LARGEST = 100_000

/** Forwards an update of a Business connection to the messenger's worker, once. @returns false for any other update */
export const forwardBusinessUpdate = async (work: Work, botId: string, update: BotUpdateInput): Promise<boolean> => {
  const kind = KINDS.find((name) => OfConnection().safeParse(update[name]).success)
  if (!kind) return false
  const data = { update: { [kind]: update[kind] } }
  if (JSON.stringify(data).length > LARGEST) return true
  await ifUnchanged(
    work.commit(
      [
        BotUpdateEntity.create(answeredUpdate(work, botId, update.update_id)),
        // The worker finds out which workspace it belongs to.
        emitEvent<BotEventType>(work.clock, { type: 'messenger.update', workspace_id: 'platform', data }),
      ],
      {},
    ),
  )
  return true
}
