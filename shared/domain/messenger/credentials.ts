import type { Account } from '../../entities/messenger.ts'
import { seal, unseal } from '../../kernel/sealed.ts'
import type { Deps } from '../deps.ts'

/** A customer's bot. */
export interface BotOfAccount {
  token: string
  webhookSecret: string
}

/** The record name that an account's credentials are sealed for. */
const recordOf = (accountId: string): string => `messenger-account:${accountId}`

export const sealCredentials = async (
  { keys }: Pick<Deps, 'keys'>,
  accountId: string,
  bot: BotOfAccount,
): Promise<string> => seal(await keys.data(), recordOf(accountId), JSON.stringify(bot))

/** Throws for an account without credentials: only a bot's has them. */
export const openCredentials = async (
  { keys }: Pick<Deps, 'keys'>,
  { id, credentials }: Pick<Account, 'id' | 'credentials'>,
): Promise<BotOfAccount> => {
  if (credentials === undefined) throw new Error(`the account ${id} has no credentials`)
  return JSON.parse(await unseal(await keys.data(), recordOf(id), credentials)) as BotOfAccount
}
