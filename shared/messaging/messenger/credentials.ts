import type { Deps } from '#shared/foundation/work/index.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import type { Account } from '#shared/work/threads/index.ts'

/** Credentials of a customer's bot. */
export interface BotOfAccount {
  token: string
  webhookSecret: string
}

/** Name of the record that the credentials are sealed for. */
const recordOf = (accountId: string): string => `messenger-account:${accountId}`

export const sealCredentials = (
  { keys }: Pick<Deps, 'keys'>,
  { id, workspace_id }: Pick<Account, 'id' | 'workspace_id'>,
  bot: BotOfAccount,
): Promise<string> => seal(keys.ofWorkspace(workspace_id), recordOf(id), JSON.stringify(bot))

/** Opens an account's sealed credentials. Throws for a personal account, which has none. */
export const openCredentials = async (
  { keys }: Pick<Deps, 'keys'>,
  { id, workspace_id, credentials }: Pick<Account, 'id' | 'workspace_id' | 'credentials'>,
): Promise<BotOfAccount> => {
  if (credentials === undefined) throw new Error(`the account ${id} has no credentials`)
  return JSON.parse(await unseal(keys.ofWorkspace(workspace_id), recordOf(id), credentials)) as BotOfAccount
}
