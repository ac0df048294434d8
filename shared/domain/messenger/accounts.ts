import { CounterEntity } from '../../entities/developers.ts'
import { type Account, AccountEntity, accountsOf } from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { either, lt, missing } from '../../table/expressions.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

/** Who asks: a member of a workspace. */
export interface Asker {
  workspace: { id: string }
  user: { id: string; name: string }
}

/** A personal account is its person's alone, unless they share it; nobody's role changes that. */
export const sees = ({ user }: { user: Pick<Asker['user'], 'id'> }, account: Account): boolean =>
  account.status !== 'removing' && (account.shared || account.user_id === user.id)

/** The person whose alone an account's chats are; undefined where the workspace sees them. */
export const privateTo = ({ shared, user_id }: Account): string | undefined => (shared ? undefined : user_id)

/** The accounts that a member sees, newest first. */
export const listAccounts = async (
  { table }: Pick<Deps, 'table'>,
  asker: Asker,
  { limit, after }: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Account>> => {
  const owners = [accountsOf(asker.workspace.id), accountsOf(asker.workspace.id, asker.user.id)]
  const pages = await Promise.all(owners.map((owner) => table.listed(AccountEntity, owner, { limit, after })))
  const all = pages.flatMap(({ items }) => items).sort((a, b) => (a.id < b.id ? 1 : -1))
  const items = all.slice(0, limit)
  const more = all.length > limit || pages.some(({ next }) => next !== undefined)
  // The index may lag behind a record that is shared no more.
  return { items: items.filter((account) => sees(asker, account)), next: more ? items.at(-1)?.id : undefined }
}

/** Every account that a member sees: at most {@link LIMITS.messengerAccounts} shared ones and their own. */
export const seenAccounts = async (deps: Pick<Deps, 'table'>, asker: Asker): Promise<Account[]> =>
  (await listAccounts(deps, asker, { limit: LIMITS.pageMax })).items

/** @throws `not_found` also for somebody else's personal account */
export const accountOf = async ({ table }: Pick<Deps, 'table'>, asker: Asker, id: string): Promise<Account> => {
  const known = isId('account', id)
  const account = known ? await table.get(AccountEntity, { workspace_id: asker.workspace.id, id }) : undefined
  if (!account || !sees(asker, account)) throw noAccount()
  return account
}

const noAccount = () => fail('not_found', { message: 'There is no such messenger account.' })

/** The counter that keeps a workspace's shared accounts at {@link LIMITS.messengerAccounts}, exactly. */
const counterOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'messenger_accounts' })

export const oneSharedMore = (workspaceId: string): Write =>
  CounterEntity.upsert(
    counterOf(workspaceId),
    { set: counterOf(workspaceId), add: { n: 1 } },
    {
      where: { n: either(missing, lt(LIMITS.messengerAccounts)) },
      otherwise: () =>
        fail('conflict', {
          message: `The workspace has ${LIMITS.messengerAccounts} shared messenger accounts, the most there can be.`,
          fix: 'Disconnect one that is no longer needed first.',
        }),
    },
  )

export const oneSharedLess = (workspaceId: string): Write =>
  CounterEntity.update(counterOf(workspaceId), { add: { n: -1 } })
