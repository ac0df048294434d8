import { SessionEntity, UsedSignInEntity, UserEntity } from '../../../entities/people.ts'
import { HOUR } from '../../../kernel/clock.ts'
import { fail } from '../../../kernel/errors.ts'
import { LIMITS } from '../../../kernel/limits.ts'
import type { Deps, Work } from '../../deps.ts'
import { tryAgain } from '../../try-again.ts'
import { arrive } from '../arrival.ts'
import type { ConsoleSessionView } from '../schemas.ts'
import { newSessionWrites } from '../sessions.ts'
import { verifyInitData } from './init-data.ts'
import { telegramIdentity } from './person.ts'
import { refused, type SignedPerson } from './signed-fields.ts'
import { verifyWidget, type WidgetFields } from './widget.ts'

/**
 * `POST /console/bot/webapp-auth`: a session for the person whom a Mini App's init data names.
 * @throws `unauthorized`; `forbidden` for a person who is blocked, and where no bot is configured
 */
export const signInByInitData = async (work: Work, initData: string): Promise<ConsoleSessionView> =>
  signIn(work, 'init_data', verifyInitData(work.clock, await botToken(work), initData))

/** `POST /console/bot/widget-auth`: the same for the login widget's answer. */
export const signInByWidget = async (work: Work, fields: WidgetFields): Promise<ConsoleSessionView> =>
  signIn(work, 'widget', verifyWidget(work.clock, await botToken(work), fields))

const botToken = async ({ bot }: Pick<Deps, 'bot'>): Promise<string> => {
  const credentials = await bot.credentials()
  if (credentials) return credentials.token
  throw fail('forbidden', {
    message: 'Nobody can sign in through the messaging app: no bot is configured.',
    fix: 'An operator must store the bot’s token in the bot’s secret.',
  })
}

/** Outlives what an Idempotency-Key keeps. */
const REMEMBERED = LIMITS.idempotencyLife + HOUR

const signIn = (work: Work, via: 'init_data' | 'widget', { person, hash }: SignedPerson): Promise<ConsoleSessionView> =>
  tryAgain(async () => {
    const { user, belonging, writes } = await arrive(work, { ...person, identity: telegramIdentity(person) })
    const opened = await newSessionWrites(work, user, belonging, via)
    const used = { hash, session_id: opened.session.id, expires_at: work.clock.now() + REMEMBERED }
    await work.commit(
      [
        UsedSignInEntity.create(used, { otherwise: () => refused('This sign-in was used already.') }),
        ...writes,
        ...opened.writes,
      ],
      opened.view,
    )
    return opened.view
  })

/**
 * May the answer that is kept under an Idempotency-Key be given again? Not once its session has ended: by signing out, by
 * its time, or because the person was blocked.
 * @param hash of the sign-in data; undefined when it has none
 */
export const sessionStillLives = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  hash: string | undefined,
): Promise<boolean> => {
  const used = hash ? await table.get(UsedSignInEntity, { hash }) : undefined
  if (!used) return true
  const session = await table.get(SessionEntity, { id: used.session_id })
  if (!session || session.expires_at <= clock.now()) return false
  return (await table.get(UserEntity, { id: session.user_id }))?.status === 'active'
}
