import { BusinessConnectionEntity, connectionsOf, TelegramPersonEntity } from '../../../entities/messenger.ts'
import type { User } from '../../../entities/people.ts'
import type { Write } from '../../../table/entity.ts'
import { missing } from '../../../table/expressions.ts'
import type { Work } from '../../deps.ts'

const PAGE = 50

/**
 * What is known of a person as a Telegram user ends with their account, whose record loses that id: for the transaction that
 * ends it. Connections that are over lead nowhere any more, so they go at once.
 */
export const forgettingWrites = async ({ table }: Work, { identity }: User): Promise<Write[]> => {
  const [, digits] = /^telegram:(\d+)$/.exec(identity) ?? []
  if (digits === undefined) return []
  const telegram_id = Number(digits)
  const person = await table.get(TelegramPersonEntity, { telegram_id })
  const current = person?.connection_id
  let after: string | undefined
  do {
    const page = await table.listed(BusinessConnectionEntity, connectionsOf(telegram_id), { limit: PAGE, after })
    const over = page.items.filter(({ connection_id }) => connection_id !== current)
    await Promise.all(over.map((connection) => table.transact([BusinessConnectionEntity.delete(connection)])))
    after = page.next
  } while (after !== undefined)
  return [
    // Told of a new connection in the same moment, it is read again.
    TelegramPersonEntity.delete({ telegram_id }, { where: { revision: person?.revision ?? missing } }),
    ...(current === undefined ? [] : [BusinessConnectionEntity.delete({ connection_id: current })]),
  ]
}
