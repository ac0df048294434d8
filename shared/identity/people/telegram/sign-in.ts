import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { UsedSignInEntity } from '../entity.ts'
import { resolvePerson } from '../resolve-person.ts'
import type { ConsoleSessionView } from '../schemas.ts'
import { newSessionWrites } from '../sessions.ts'
import { verifyInitData } from './init-data.ts'
import { telegramIdentity } from './person.ts'
import { type SignedPerson, signInError } from './signed-fields.ts'
import { verifyWidget, type WidgetFields } from './widget.ts'

/**
 * Signs in the person of a Mini App's init data (`POST /console/bot/webapp-auth`).
 * @throws `unauthorized`, `forbidden` if the person is blocked or no bot is configured
 */
export const signInByInitData = async (work: Work, initData: string): Promise<ConsoleSessionView> =>
  signIn(work, 'init_data', verifyInitData(work.clock, await botToken(work), initData))

/** Signs in the person of the login widget's data (`POST /console/bot/widget-auth`). Throws as {@link signInByInitData}. */
export const signInByWidget = async (work: Work, fields: WidgetFields): Promise<ConsoleSessionView> =>
  signIn(work, 'widget', verifyWidget(work.clock, await botToken(work), fields))

const botToken = async ({ bot }: Pick<Deps, 'bot'>): Promise<string> => {
  const credentials = await bot.credentials()
  if (credentials) return credentials.token
  throw fail('forbidden', {
    message: 'You can’t sign in through the messaging app because no bot is configured.',
    fix: 'Ask the operator to store the bot’s token in the bot’s secret.',
  })
}

/** Time to remember used data. Longer than the data is valid, even if it is dated ahead and clocks differ. */
const REMEMBERED = HOUR

const signIn = (work: Work, via: 'init_data' | 'widget', { person, hash }: SignedPerson): Promise<ConsoleSessionView> =>
  retryOnConflict(async () => {
    const { user, belonging, writes, checks } = await resolvePerson(work, {
      ...person,
      identity: telegramIdentity(person),
    })
    const opened = await newSessionWrites(work, user, belonging, via)
    const used = { hash, expires_at: work.clock.now() + REMEMBERED }
    await work.commit(
      [
        UsedSignInEntity.create(used, { otherwise: () => signInError('This sign-in was already used.') }),
        ...writes,
        ...checks,
        ...opened.writes,
      ],
      opened.view,
    )
    return opened.view
  })
