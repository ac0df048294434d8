import { ClaimEntity } from '../../entities/developers.ts'
import type { Account } from '../../entities/messenger.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

/** The claim that keeps a bot at one account on the whole platform. */
export const botClaim = (telegramId: number) => ({ kind: 'telegram-bot', value: String(telegramId) })

/** Others may connect the account's bot. Nothing for a personal account, or where the bot is another account's by now. */
export const releaseBot = async (
  { table }: Pick<Work, 'table'>,
  { id: owner_id, kind, telegram_id }: Account,
): Promise<Write[]> => {
  if (kind !== 'bot') return []
  const claim = await table.get(ClaimEntity, botClaim(telegram_id))
  return claim?.owner_id === owner_id ? [ClaimEntity.delete(claim, { where: { owner_id } })] : []
}
