import * as z from 'zod'
import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { type Member, roleCheck } from '#shared/identity/people/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed, type Write } from '#shared/table/entity.ts'
import { type Account, AccountEntity, type AccountViewer, countSharedAccount } from '#shared/work/threads/index.ts'
import { type BotCallOutcome, botIdOf, callBotApi, isTokenRejected } from './bot-api.ts'
import { botClaim } from './bot-claim.ts'
import { openCredentials, sealCredentials } from './credentials.ts'
import { AccountWebhookEntity } from './entity.ts'
import { presentAccount } from './present.ts'
import type { AccountView, ConnectBotInput } from './schemas.ts'
import { setWebhook, webhookUrl } from './webhook.ts'

/** Telegram's `User` object of a bot. */
const Me = () => z.object({ id: z.int().positive(), first_name: z.string(), username: z.string().optional() })

type Me = z.infer<ReturnType<typeof Me>>

/**
 * Connects a customer's bot: checks its token, stores it and points its webhook here. The record is written first,
 * because it holds the claim on the bot. A worker completes unfinished connections.
 * @throws `validation_error` for a token that Telegram rejects; `conflict`; `admin_required`
 */
export const connectBot = async (
  work: Work,
  asker: AccountViewer & { member: Member },
  { token, take_over }: ConnectBotInput,
): Promise<AccountView> => {
  const own = await work.bot.credentials()
  if (own && botIdOf(own.token) === botIdOf(token)) {
    throw fail('conflict', {
      message: 'This token belongs to the platform’s own bot.',
      fix: 'Create your own bot with @BotFather and connect it.',
    })
  }
  const me = await identify(work, token)
  const id = work.id('account')
  const elsewhere = take_over ? undefined : await sentElsewhere(work, token)
  if (elsewhere !== undefined) {
    throw fail('conflict', {
      message: 'The bot sends its updates to another address, which would stop receiving them.',
      fix: 'Send take_over: true to redirect the updates, or connect another bot.',
      details: { host: elsewhere },
    })
  }
  const account = await createAccount(work, asker, { id, token, me })
  const answer = async (writes: readonly Write[], changed: Account): Promise<AccountView> => {
    const view = presentAccount(changed)
    await work.commit(writes, view)
    return view
  }
  try {
    return await setWebhook(work, account, asker.user.id, answer)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // A worker completed the connection first.
    return answer([], (await work.table.get(AccountEntity, account)) ?? account)
  }
}

const identify = async (work: Work, token: string): Promise<Me> => {
  const called = await callBotApi(work, token, 'getMe', {}, Me())
  if (called.kind === 'ok') return called.result
  if (isTokenRejected(called)) throw noSuchBot()
  throw tryLater(called)
}

const noSuchBot = (): PlatformError =>
  fail('validation_error', {
    message: 'Telegram rejected this token.',
    fix: 'Copy the token again from @BotFather: /mybots > API Token.',
    details: { fields: { token: ['was rejected by Telegram'] } },
  })

const tryLater = (called: Exclude<BotCallOutcome<unknown>, { kind: 'ok' }>): PlatformError =>
  fail('conflict', {
    message: 'Telegram is temporarily not accepting the request.',
    fix: 'Send the request again after Retry-After seconds.',
    details: { reason: called.description },
    headers: {
      'retry-after': String(called.kind === 'refused' ? Math.ceil((called.retryAfterMs ?? 5 * SECOND) / SECOND) : 5),
    },
  })

/** @returns the host that currently receives the bot's updates, if it isn't this platform */
const sentElsewhere = async (work: Work, token: string): Promise<string | undefined> => {
  const called = await callBotApi(work, token, 'getWebhookInfo', {}, z.object({ url: z.string() }))
  if (called.kind !== 'ok') throw tryLater(called)
  const { url } = called.result
  if (url === '' || url.startsWith(webhookUrl(work, ''))) return undefined
  return URL.canParse(url) ? new URL(url).host : 'another address'
}

/**
 * Creates the account and claims the bot for it.
 * @throws `conflict` when the bot is already connected, without revealing where
 */
const createAccount = async (
  work: Work,
  { workspace, user, member }: AccountViewer & { member: Member },
  { id, token, me }: { id: string; token: string; me: Me },
): Promise<Account> => {
  const now = work.clock.now()
  const webhookSecret = newSecret()
  const account: Account = {
    ...stampOf(id),
    workspace_id: workspace.id,
    kind: 'bot',
    status: 'connecting',
    telegram_id: me.id,
    name: me.first_name,
    username: me.username,
    shared: true,
    created_by: { id: user.id, name: user.name },
    credentials: await sealCredentials(work, { id, workspace_id: workspace.id }, { token, webhookSecret }),
    can_reply: true,
    due_at: now + MINUTE,
    updated_at: now,
  }
  try {
    await withoutAnswer(work).commit([
      ClaimEntity.create({ ...botClaim(me.id), owner_id: id }),
      AccountEntity.create(account),
      AccountWebhookEntity.create({ account_id: id, workspace_id: workspace.id, secret_hash: sha256(webhookSecret) }),
      countSharedAccount(workspace.id),
      // The role is checked again, because it may have changed while Telegram was called.
      roleCheck(member, 'admin'),
    ])
    return account
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const claim = await work.table.get(ClaimEntity, botClaim(me.id))
    return reconnect(work, { member, id: claim?.owner_id ?? '', token, me, asked: id })
  }
}

/**
 * Handles a bot that is already claimed, by an earlier attempt of this request or by a disconnected account of this
 * workspace.
 */
const reconnect = async (
  work: Work,
  { member, id, token, me, asked }: { member: Member; id: string; token: string; me: Me; asked: string },
): Promise<Account> => {
  const account = id === '' ? undefined : await work.table.get(AccountEntity, { workspace_id: member.workspace_id, id })
  if (account?.id === asked) return account
  if (account?.status !== 'disconnected') {
    throw fail('conflict', {
      message: 'This bot is already connected.',
      fix: account
        ? 'Find its account with GET /console/messenger/accounts.'
        : 'Disconnect it in the other workspace, or connect another bot.',
    })
  }
  const { webhookSecret } = await openCredentials(work, account)
  const changed = {
    status: 'connecting' as const,
    reason: undefined,
    name: me.first_name,
    username: me.username,
    credentials: await sealCredentials(work, account, { token, webhookSecret }),
    tries: undefined,
    blocked_until: undefined,
    due_at: work.clock.now() + MINUTE,
    updated_at: work.clock.now(),
  }
  await withoutAnswer(work).commit([
    AccountEntity.update(
      account,
      { set: changed },
      {
        where: { status: 'disconnected' },
        otherwise: () => fail('conflict', { message: 'Another request is connecting this bot.' }),
      },
    ),
    roleCheck(member, 'admin'),
  ])
  return { ...account, ...changed }
}
