import * as z from 'zod'
import { ClaimEntity } from '../../entities/developers.ts'
import { type Account, AccountEntity, AccountWebhookEntity } from '../../entities/messenger.ts'
import type { Member } from '../../entities/people.ts'
import { MINUTE, SECOND } from '../../kernel/clock.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import { aside, type Work } from '../deps.ts'
import { holdsStill } from '../people/rank.ts'
import { type Asker, oneSharedMore } from './accounts.ts'
import { botIdOf, type Called, callBotApi, isRevoked } from './bot-api.ts'
import { botClaim } from './claim.ts'
import { openCredentials, sealCredentials } from './credentials.ts'
import { presentAccount } from './present.ts'
import type { AccountView, ConnectBotInput } from './schemas.ts'
import { addressOf, pointWebhook } from './webhook.ts'

/** Telegram's `User` of a bot. */
const Me = () => z.object({ id: z.int().positive(), first_name: z.string(), username: z.string().optional() })
type Me = z.infer<ReturnType<typeof Me>>

/**
 * Connects a customer's bot: checks its token, keeps it, and points its updates here. The record comes first, because it
 * holds the claim on the bot; a worker finishes what is left undone.
 * @throws `validation_error` for a token that Telegram does not know; `conflict`; `admin_required`
 */
export const connectBot = async (
  work: Work,
  asker: Asker & { member: Member },
  { token, take_over }: ConnectBotInput,
): Promise<AccountView> => {
  const own = await work.bot.credentials()
  if (own && botIdOf(own.token) === botIdOf(token)) {
    throw fail('conflict', {
      message: 'This is the platform’s own bot.',
      fix: 'Make a bot of your own with @BotFather and connect that.',
    })
  }
  const me = await identify(work, token)
  const id = work.id('account')
  const elsewhere = take_over ? undefined : await sentElsewhere(work, token)
  if (elsewhere !== undefined) {
    throw fail('conflict', {
      message: 'The bot sends its updates to another address, which would get no more of them.',
      fix: 'Connect another bot, or send take_over: true.',
      details: { host: elsewhere },
    })
  }
  const account = await keep(work, asker, { id, token, me })
  const answer = async (writes: readonly Write[], changed: Account): Promise<AccountView> => {
    const view = presentAccount(changed)
    await work.commit(writes, view)
    return view
  }
  try {
    return await pointWebhook(work, account, asker.user.id, answer)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // A worker was faster.
    return answer([], (await work.table.get(AccountEntity, account)) ?? account)
  }
}

const identify = async (work: Work, token: string): Promise<Me> => {
  const called = await callBotApi(work, token, 'getMe', {}, Me())
  if (called.kind === 'ok') return called.result
  if (isRevoked(called)) throw noSuchBot()
  throw tryLater(called)
}

const noSuchBot = (): PlatformError =>
  fail('validation_error', {
    message: 'Telegram does not know this token.',
    fix: 'Copy it again from @BotFather: /mybots, API Token.',
    details: { fields: { token: ['Telegram does not know it'] } },
  })

const tryLater = (called: Exclude<Called<unknown>, { kind: 'ok' }>): PlatformError =>
  fail('conflict', {
    message: 'Telegram does not take the request now.',
    fix: 'Send it again after Retry-After seconds.',
    details: { reason: called.description },
    headers: {
      'retry-after': String(called.kind === 'refused' ? Math.ceil((called.retryAfterMs ?? 5 * SECOND) / SECOND) : 5),
    },
  })

/** @returns the host that gets the bot's updates now, when that is not this platform */
const sentElsewhere = async (work: Work, token: string): Promise<string | undefined> => {
  const called = await callBotApi(work, token, 'getWebhookInfo', {}, z.object({ url: z.string() }))
  if (called.kind !== 'ok') throw tryLater(called)
  const { url } = called.result
  if (url === '' || url.startsWith(addressOf(work, ''))) return undefined
  return URL.canParse(url) ? new URL(url).host : 'another address'
}

/**
 * The account's record, with the bot claimed for it.
 * @throws `conflict` when the bot is connected already; nobody learns where
 */
const keep = async (
  work: Work,
  { workspace, user, member }: Asker & { member: Member },
  { id, token, me }: { id: string; token: string; me: Me },
): Promise<Account> => {
  const now = work.clock.now()
  const webhookSecret = newSecret()
  const account: Account = {
    id,
    workspace_id: workspace.id,
    kind: 'bot',
    status: 'connecting',
    telegram_id: me.id,
    name: me.first_name,
    username: me.username,
    shared: true,
    created_by: { id: user.id, name: user.name },
    credentials: await sealCredentials(work, id, { token, webhookSecret }),
    can_reply: true,
    due_at: now + MINUTE,
    created_at: now,
    updated_at: now,
  }
  try {
    await aside(work).commit([
      ClaimEntity.create({ ...botClaim(me.id), owner_id: id }),
      AccountEntity.create(account),
      AccountWebhookEntity.create({ account_id: id, workspace_id: workspace.id, secret_hash: sha256(webhookSecret) }),
      oneSharedMore(workspace.id),
      // Telegram took its time: they may have lost the role meanwhile.
      holdsStill(member, 'admin'),
    ])
    return account
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const claim = await work.table.get(ClaimEntity, botClaim(me.id))
    return again(work, { member, id: claim?.owner_id ?? '', token, me, asked: id })
  }
}

/** The bot is claimed: by this request's earlier try, or by an account of this workspace whose token was revoked. */
const again = async (
  work: Work,
  { member, id, token, me, asked }: { member: Member; id: string; token: string; me: Me; asked: string },
): Promise<Account> => {
  const account = id === '' ? undefined : await work.table.get(AccountEntity, { workspace_id: member.workspace_id, id })
  if (account?.id === asked) return account
  if (account?.status !== 'disconnected') {
    throw fail('conflict', {
      message: 'This bot is connected already.',
      fix: account
        ? 'GET /console/messenger/accounts shows it.'
        : 'Disconnect it where it is connected, or connect another bot.',
    })
  }
  const { webhookSecret } = await openCredentials(work, account)
  const changed = {
    status: 'connecting' as const,
    reason: undefined,
    name: me.first_name,
    username: me.username,
    credentials: await sealCredentials(work, id, { token, webhookSecret }),
    tries: undefined,
    blocked_until: undefined,
    due_at: work.clock.now() + MINUTE,
    updated_at: work.clock.now(),
  }
  await aside(work).commit([
    AccountEntity.update(
      account,
      { set: changed },
      {
        where: { status: 'disconnected' },
        otherwise: () => fail('conflict', { message: 'This bot is being connected by another request.' }),
      },
    ),
    holdsStill(member, 'admin'),
  ])
  return { ...account, ...changed }
}
