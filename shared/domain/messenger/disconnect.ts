import { type Account, AccountEntity } from '../../entities/messenger.ts'
import { atLeast, MemberEntity } from '../../entities/people.ts'
import { AuditEntity } from '../../entities/platform.ts'
import { ifUnchanged, type Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import type { AccountView } from './schemas.ts'

type Reason = NonNullable<AccountView['reason']>

/** What is said of it. */
const WHY: Record<Reason, string> = {
  token_revoked: 'Telegram does not know the bot’s token any more. Connect it again with its new token.',
  webhook_refused: 'Telegram refused the bot’s webhook. Connect it again.',
  connection_ended:
    'The connection was ended in Telegram. Connect it there again: Settings, Telegram Business, Chatbots.',
  left_workspace: 'The person has left the workspace.',
}

/** Members that are looked through for admins; a workspace has fewer than that. */
const MEMBERS = 100
/** What fits beside the rest into one transaction. */
const ADMINS = 20

/** An account’s end by itself: nothing goes out any more, and whoever can mend it is told. */
export const disconnectWrites = async (work: Work, account: Account, reason: Reason): Promise<Write[]> => {
  const { id, workspace_id, kind, name } = account
  const now = work.clock.now()
  const whom = await toTell(work, account, reason)
  return [
    AccountEntity.update(
      account,
      {
        set: {
          status: 'disconnected',
          reason,
          connection_id: undefined,
          updated_at: now,
          ...(kind === 'user' && { can_reply: false }),
        },
      },
      { where: { status: account.status, updated_at: account.updated_at } },
    ),
    AuditEntity.create({
      id: work.id('audit'),
      scope: workspace_id,
      action: 'messenger.account_lost',
      actor: { type: 'system', id: 'messenger' },
      target: { type: 'messenger_account', id },
      request_id: work.requestId,
      details: { kind, reason },
      created_at: now,
    }),
    ...whom.flatMap(
      (user_id) =>
        newNotification(work, {
          workspace_id,
          user_id,
          kind: 'messenger.disconnected',
          title: `${name} is disconnected`,
          body: WHY[reason],
          target: { type: 'messenger_account', id },
        }).writes,
    ),
  ]
}

/** A personal account's person, unless they left; a bot's admins. */
const toTell = async ({ table }: Work, { kind, user_id, workspace_id }: Account, reason: Reason): Promise<string[]> => {
  if (reason === 'left_workspace') return []
  if (kind === 'user') return user_id === undefined ? [] : [user_id]
  const { items } = await table.query(MemberEntity, { workspace_id }, { limit: MEMBERS, ascending: true })
  return items
    .filter(({ role }) => atLeast(role, 'admin'))
    .slice(0, ADMINS)
    .map((member) => member.user_id)
}

/** {@link disconnectWrites} on their own; nothing where somebody else changed the account meanwhile. */
export const disconnect = async (work: Work, account: Account, reason: Reason): Promise<void> => {
  await ifUnchanged(work.commit(await disconnectWrites(work, account, reason)))
}

/** An account as it is; a personal one ends when its person has left the workspace. */
export const currentAccount = async (work: Work, workspace_id: string, id: string): Promise<Account | undefined> => {
  const account = await work.table.get(AccountEntity, { workspace_id, id })
  if (account?.kind !== 'user' || account.status !== 'active') return account
  const member = await work.table.get(MemberEntity, { workspace_id, user_id: account.user_id ?? '-' })
  if (member) return account
  await disconnect(work, account, 'left_workspace')
  return { ...account, status: 'disconnected' }
}
