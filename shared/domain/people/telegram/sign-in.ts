import { UsedSignInEntity } from '../../../entities/people.ts'
import { HOUR } from '../../../kernel/clock.ts'
import { fail } from '../../../kernel/errors.ts'
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

/** Outlives the data, which may be dated ahead, whatever the clocks of two functions differ by. */
const REMEMBERED = HOUR

const signIn = (work: Work, via: 'init_data' | 'widget', { person, hash }: SignedPerson): Promise<ConsoleSessionView> =>
  tryAgain(async () => {
    const { user, belonging, writes, checks } = await arrive(work, { ...person, identity: telegramIdentity(person) })
    const opened = await newSessionWrites(work, user, belonging, via)
    const used = { hash, expires_at: work.clock.now() + REMEMBERED }
    await work.commit(
      [
        UsedSignInEntity.create(used, { otherwise: () => refused('This sign-in was used already.') }),
        ...writes,
        ...checks,
        ...opened.writes,
      ],
      opened.view,
    )
    return opened.view
  })
