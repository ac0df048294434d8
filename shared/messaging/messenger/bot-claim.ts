import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Account } from '#shared/work/threads/index.ts'

/** Claim that limits a bot to one account on the whole platform. */
export const botClaim = (telegramId: number) => ({ kind: 'telegram-bot', value: String(telegramId) })

/**
 * Releases the account's bot for others to connect. Empty for a personal account, or when another account holds the bot
 * by now.
 */
export const releaseBot = async (
  { table }: Pick<Work, 'table'>,
  { id: owner_id, kind, telegram_id }: Account,
): Promise<Write[]> => {
  if (kind !== 'bot') return []
  const claim = await table.get(ClaimEntity, botClaim(telegram_id))
  return claim?.owner_id === owner_id ? [ClaimEntity.delete(claim, { where: { owner_id } })] : []
}
