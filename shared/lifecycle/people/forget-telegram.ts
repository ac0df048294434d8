import type { Work } from '#shared/foundation/work/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import { BusinessConnectionEntity, connectionsOf, TelegramPersonEntity } from '#shared/messaging/messenger/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { eachPage } from '#shared/table/pages.ts'

const PAGE = 50

/**
 * Returns the writes that forget a person as a Telegram user. They belong to the transaction that deletes the account,
 * whose record loses the Telegram id. Ended connections would become unreachable, so they are deleted right away.
 */
export const telegramRemovalWrites = async ({ table }: Work, { identity }: User): Promise<Write[]> => {
  const [, digits] = /^telegram:(\d+)$/.exec(identity) ?? []
  if (digits === undefined) return []
  const telegram_id = Number(digits)
  const person = await table.get(TelegramPersonEntity, { telegram_id })
  const current = person?.connection_id
  for await (const connections of eachPage((after) =>
    table.listed(BusinessConnectionEntity, connectionsOf(telegram_id), { limit: PAGE, after }),
  )) {
    const over = connections.filter(({ connection_id }) => connection_id !== current)
    await Promise.all(over.map((connection) => table.transact([BusinessConnectionEntity.delete(connection)])))
  }
  return [
    // If a new connection arrives at the same moment, the transaction fails and the person is read again.
    TelegramPersonEntity.delete({ telegram_id }, { where: { revision: person?.revision ?? missing } }),
    ...(current === undefined ? [] : [BusinessConnectionEntity.delete({ connection_id: current })]),
  ]
}
