import * as z from 'zod'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { type Member, MemberEntity, type User } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Account, AccountEntity, type AccountViewer, countSharedAccount } from '#shared/work/threads/index.ts'
import { callBotApi } from './bot-api.ts'
import { TelegramPersonEntity, type TelegramPersonRecord } from './entity.ts'
import { loadCurrentAccount } from './leave.ts'
import { presentAccount } from './present.ts'
import type { AccountView } from './schemas.ts'

const Me = () => z.object({ username: z.string(), can_connect_to_business: z.boolean().optional() })

/**
 * Creates a person's personal account. It becomes active when Telegram reports their Business connection with the
 * platform's bot, or at once if that was reported before.
 * @throws `conflict`
 */
export const connectUser = async (
  work: Work,
  asker: AccountViewer & { user: User; member: Member },
  { shared }: { shared: boolean },
): Promise<AccountView> => {
  const telegram_id = telegramIdOf(asker.user)
  const connect = await loadConnectSteps(work)
  return retryOnConflict(async () => {
    const known = await loadPerson(work, telegram_id)
    if (known?.account_id !== undefined) return answerExisting(work, asker, known, connect)
    const now = work.clock.now()
    const connected = known?.connection_id !== undefined
    const account: Account = {
      ...stampOf(work.id('account')),
      workspace_id: asker.workspace.id,
      kind: 'user',
      status: connected ? 'active' : 'pending',
      telegram_id,
      name: asker.user.name,
      user_id: asker.user.id,
      member_since: asker.member.joined_at,
      shared,
      created_by: { id: asker.user.id, name: asker.user.name },
      connection_id: known?.connection_id,
      can_reply: known?.can_reply ?? false,
      updated_at: now,
    }
    const { id: account_id, workspace_id } = account
    const revision = (known?.revision ?? 0) + 1
    const writes: Write[] = [
      AccountEntity.create(account),
      // A person who is just being removed could neither see the account nor connect another one.
      MemberEntity.check(
        { workspace_id, user_id: asker.user.id },
        { where: { joined_at: asker.member.joined_at }, otherwise: () => fail('unauthorized') },
      ),
      TelegramPersonEntity.upsert(
        { telegram_id },
        { set: { telegram_id, workspace_id, account_id, revision } },
        { where: { revision: known?.revision ?? missing } },
      ),
      ...(shared ? [countSharedAccount(workspace_id)] : []),
      auditPerson(
        work,
        { workspaceId: workspace_id, userId: asker.user.id },
        connected ? 'messenger.account_connected' : 'messenger.account_requested',
        { type: 'messenger_account', id: account_id },
        { kind: 'user' },
      ),
    ]
    const view = presentAccount(account, connected ? null : connect)
    await work.commit(writes, view)
    return view
  })
}

/** Loads a Telegram user. An account whose membership has ended is released first. */
const loadPerson = async (work: Work, telegram_id: number): Promise<TelegramPersonRecord | undefined> => {
  const load = () => work.table.get(TelegramPersonEntity, { telegram_id })
  const known = await load()
  if (known?.workspace_id === undefined || known.account_id === undefined) return known
  const account = await loadCurrentAccount(withoutAnswer(work), known.workspace_id, known.account_id)
  return account ? known : load()
}

const telegramIdOf = ({ identity }: User): number => {
  const [, digits] = /^telegram:(\d+)$/.exec(identity) ?? []
  if (digits !== undefined) return Number(digits)
  throw fail('conflict', {
    message: 'You didn’t sign in with Telegram, so your Telegram account is unknown.',
    fix: 'Sign in with Telegram, then connect your account.',
  })
}

const answerExisting = async (
  work: Work,
  { workspace, user }: AccountViewer,
  { workspace_id = '', account_id: id = '' }: TelegramPersonRecord,
  connect: AccountView['connect'],
): Promise<AccountView> => {
  const account = workspace_id === workspace.id ? await work.table.get(AccountEntity, { workspace_id, id }) : undefined
  if (account?.user_id !== user.id || account.status === 'removing') {
    throw fail('conflict', {
      message: 'Your account is connected in another of your workspaces or is being disconnected.',
      fix: 'Disconnect it in the other workspace, or try again in a moment.',
    })
  }
  const view = presentAccount(account, account.status === 'active' ? null : connect)
  await work.commit([], view)
  return view
}

/** Loads the steps the person takes in Telegram. @throws `conflict` when the platform has no bot with Business Mode */
const loadConnectSteps = async (work: Work): Promise<NonNullable<AccountView['connect']>> => {
  const own = await work.bot.credentials()
  if (!own) {
    throw fail('conflict', {
      message: 'Personal accounts need the platform’s bot, and none is connected.',
      fix: 'Ask an admin of the platform to connect a bot (npm run telegram).',
    })
  }
  const called = await callBotApi(work, own.token, 'getMe', {}, Me())
  if (called.kind !== 'ok') {
    throw fail('conflict', {
      message: 'Telegram isn’t answering at the moment.',
      fix: 'Send the request again after Retry-After seconds.',
      headers: { 'retry-after': '5' },
      cause: called.description,
    })
  }
  const { username, can_connect_to_business } = called.result
  if (can_connect_to_business === false) {
    throw fail('conflict', {
      message: 'The platform’s bot doesn’t accept Business connections.',
      fix: 'Ask an admin of the platform to turn on Business Mode with @BotFather: /mybots > Bot Settings.',
    })
  }
  return {
    url: `${work.settings.telegramLinkUrl}/${username}`,
    username,
    steps: [
      'In Telegram, open Settings > Telegram Business > Chatbots. Telegram Business requires Telegram Premium.',
      `Enter @${username} and add it as your chatbot.`,
      'Choose the chats it can access, and allow it to reply to messages.',
    ],
  }
}
