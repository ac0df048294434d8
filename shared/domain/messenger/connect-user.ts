import * as z from 'zod'
import { type Account, AccountEntity, TelegramPersonEntity } from '../../entities/messenger.ts'
import { MemberEntity, type User } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { exists, missing } from '../../table/expressions.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { type Asker, oneSharedMore } from './accounts.ts'
import { callBotApi } from './bot-api.ts'
import { presentAccount } from './present.ts'
import type { AccountView } from './schemas.ts'

const Me = () => z.object({ username: z.string(), can_connect_to_business: z.boolean().optional() })

/**
 * Makes a person's personal account, which becomes active when Telegram tells of their Business connection with the
 * platform's bot; at once, if it told of it before.
 * @throws `conflict`
 */
export const connectUser = async (
  work: Work,
  asker: Asker & { user: User },
  { shared }: { shared: boolean },
): Promise<AccountView> => {
  const telegram_id = telegramIdOf(asker.user)
  const connect = await howTo(work)
  return tryAgain(async () => {
    const known = await work.table.get(TelegramPersonEntity, { telegram_id })
    if (known?.account_id !== undefined) return answerAgain(work, asker, known, connect)
    const now = work.clock.now()
    const connected = known?.connection_id !== undefined
    const account: Account = {
      id: work.id('account'),
      workspace_id: asker.workspace.id,
      kind: 'user',
      status: connected ? 'active' : 'pending',
      telegram_id,
      name: asker.user.name,
      user_id: asker.user.id,
      shared,
      created_by: { id: asker.user.id, name: asker.user.name },
      connection_id: known?.connection_id,
      can_reply: known?.can_reply ?? false,
      created_at: now,
      updated_at: now,
    }
    const { id: account_id, workspace_id } = account
    const revision = (known?.revision ?? 0) + 1
    const writes: Write[] = [
      AccountEntity.create(account),
      // Whoever is removed at this moment could neither see it nor connect another one.
      MemberEntity.check(
        { workspace_id, user_id: asker.user.id },
        { where: { user_id: exists }, otherwise: () => fail('unauthorized') },
      ),
      TelegramPersonEntity.upsert(
        { telegram_id },
        { set: { telegram_id, workspace_id, account_id, revision } },
        { where: { revision: known?.revision ?? missing } },
      ),
      ...(shared ? [oneSharedMore(workspace_id)] : []),
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

const telegramIdOf = ({ identity }: User): number => {
  const [, digits] = /^telegram:(\d+)$/.exec(identity) ?? []
  if (digits !== undefined) return Number(digits)
  throw fail('conflict', {
    message: 'You did not sign in with Telegram, so nobody knows which account is yours there.',
    fix: 'Sign in with Telegram and connect your account then.',
  })
}

const answerAgain = async (
  work: Work,
  { workspace, user }: Asker,
  { workspace_id = '', account_id: id = '' }: { workspace_id?: string | undefined; account_id?: string | undefined },
  connect: AccountView['connect'],
): Promise<AccountView> => {
  const account = workspace_id === workspace.id ? await work.table.get(AccountEntity, { workspace_id, id }) : undefined
  if (account?.user_id !== user.id || account.status === 'removing') {
    throw fail('conflict', {
      message: 'Your account is connected in another workspace of yours, or is just being disconnected.',
      fix: 'Disconnect it there first, or try again in a moment.',
    })
  }
  const view = presentAccount(account, account.status === 'active' ? null : connect)
  await work.commit([], view)
  return view
}

/** What the person does in Telegram. @throws `conflict` where the platform has no bot that takes Business connections */
const howTo = async (work: Work): Promise<NonNullable<AccountView['connect']>> => {
  const own = await work.bot.credentials()
  if (!own) {
    throw fail('conflict', {
      message: 'The platform has no bot, through which personal accounts are connected.',
      fix: 'An operator connects one first (npm run telegram).',
    })
  }
  const called = await callBotApi(work, own.token, 'getMe', {}, Me())
  if (called.kind !== 'ok') {
    throw fail('conflict', {
      message: 'Telegram does not answer now.',
      fix: 'Send the request again in some seconds.',
      headers: { 'retry-after': '5' },
      cause: called.description,
    })
  }
  const { username, can_connect_to_business } = called.result
  if (can_connect_to_business === false) {
    throw fail('conflict', {
      message: 'The platform’s bot takes no Business connections.',
      fix: 'An operator turns on its Business Mode with @BotFather: /mybots, Bot Settings.',
    })
  }
  return {
    url: `${work.settings.telegram.linkUrl}/${username}`,
    username,
    steps: [
      'Open Telegram: Settings, Telegram Business, Chatbots. (Telegram Business is part of Telegram Premium.)',
      `Enter @${username} as your chatbot and add it.`,
      'Choose which chats it may see, and let it reply to messages.',
    ],
  }
}
