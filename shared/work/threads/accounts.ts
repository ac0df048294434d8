import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Account, AccountEntity, accountsOf } from './entity.ts'

/** A member of a workspace who uses its messenger accounts. */
export interface AccountViewer {
  workspace: { id: string }
  user: { id: string; name: string }
}

/** Reports whether a person may use an account. An unshared personal one is only its owner's, regardless of roles. */
export const canSeeAccount = ({ user }: { user: Pick<AccountViewer['user'], 'id'> }, account: Account): boolean =>
  account.status !== 'removing' && (account.shared || account.user_id === user.id)

/** Returns the only person who may see an account's threads; undefined if the whole workspace may. */
export const accountPrivateTo = ({ shared, user_id }: Account): string | undefined => (shared ? undefined : user_id)

/** Lists the accounts that a member may see, newest first. */
export const listAccounts = async (
  { table }: Pick<Deps, 'table'>,
  asker: AccountViewer,
  { limit, after }: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Account>> => {
  const owners = [accountsOf(asker.workspace.id), accountsOf(asker.workspace.id, asker.user.id)]
  const pages = await Promise.all(owners.map((owner) => table.listed(AccountEntity, owner, { limit, after })))
  const all = pages.flatMap(({ items }) => items).sort((a, b) => (a.id < b.id ? 1 : -1))
  const items = all.slice(0, limit)
  const more = all.length > limit || pages.some(({ next }) => next !== undefined)
  // The index may lag behind a record that is no longer shared.
  return { items: items.filter((account) => canSeeAccount(asker, account)), next: more ? items.at(-1)?.id : undefined }
}

/** Lists every account that a member may see: at most {@link LIMITS.messengerAccounts} shared ones and their own. */
export const listVisibleAccounts = async (deps: Pick<Deps, 'table'>, asker: AccountViewer): Promise<Account[]> =>
  (await listAccounts(deps, asker, { limit: LIMITS.pageMax })).items

/** Loads an account. @throws `not_found` also for another person's personal account */
export const loadAccount = async (
  { table }: Pick<Deps, 'table'>,
  asker: AccountViewer,
  id: string,
): Promise<Account> => {
  const known = isId('account', id)
  const account = known ? await table.get(AccountEntity, { workspace_id: asker.workspace.id, id }) : undefined
  if (!account || !canSeeAccount(asker, account)) throw noAccount()
  return account
}

const noAccount = () => fail('not_found', { message: 'Messenger account not found.' })

/** Counter that limits a workspace's shared accounts to {@link LIMITS.messengerAccounts}, exactly. */
const counterOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'messenger_accounts' })

export const countSharedAccount = (workspaceId: string): Write =>
  CounterEntity.upsert(
    counterOf(workspaceId),
    { set: counterOf(workspaceId), add: { n: 1 } },
    {
      where: { n: either(missing, lt(LIMITS.messengerAccounts)) },
      otherwise: () =>
        fail('conflict', {
          message: `The workspace has the maximum of ${LIMITS.messengerAccounts} shared messenger accounts.`,
          fix: 'Disconnect an account that is no longer needed.',
        }),
    },
  )

export const uncountSharedAccount = (workspaceId: string): Write =>
  CounterEntity.update(counterOf(workspaceId), { add: { n: -1 } })
