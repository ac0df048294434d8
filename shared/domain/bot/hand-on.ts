import * as z from 'zod'
import { BotUpdateEntity } from '../../entities/bot.ts'
import { tell } from '../../events/outbox.ts'
import { ifUnchanged } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { takenUpdate } from './claim.ts'
import type { BotUpdateInput } from './schemas.ts'

/** What Telegram tells of people's Business connections with the bot. */
const KINDS = [
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
] as const

/** `BusinessConnection` has the first, everything that comes by one the second. */
const OfConnection = () => z.object({ id: z.string() }).or(z.object({ business_connection_id: z.string() }))

/** More than any text with what is quoted around it; an event travels with its data. */
const LARGEST = 100_000

/**
 * Hands an update of a Business connection on to the messenger's worker, once.
 * @returns false for any other update
 */
export const handOn = async (work: Work, botId: string, update: BotUpdateInput): Promise<boolean> => {
  const kind = KINDS.find((one) => OfConnection().safeParse(update[one]).success)
  if (!kind) return false
  const data = { update: { [kind]: update[kind] } }
  if (JSON.stringify(data).length > LARGEST) return true
  await ifUnchanged(
    work.commit(
      [
        BotUpdateEntity.create(takenUpdate(work, botId, update.update_id)),
        // Whose it is, the worker finds out.
        tell(work.clock, { type: 'messenger.update', workspace_id: 'platform', data }),
      ],
      {},
    ),
  )
  return true
}
