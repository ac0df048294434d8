import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { BotInfoView } from './schemas.ts'

/**
 * Telegram's own link host. With any other host a stand-in is used, and the login widget works only with Telegram's own
 * bots.
 */
const TELEGRAM = 'https://t.me'

/**
 * `GET /console/bot/info`: how to reach the bot.
 * @throws `conflict` while Telegram can't be asked for the bot's name
 */
export const readBotInfo = async ({ bot, settings }: Pick<Deps, 'bot' | 'settings'>): Promise<BotInfoView> => {
  if (!(await bot.credentials())) return { username: null, url: null, login_widget: false }
  const me = await bot.me()
  if (!me.ok) {
    throw fail('conflict', {
      message: 'Telegram didn’t return the details of the platform’s bot.',
      fix: 'Try again in a few seconds. If the error persists, check the platform’s logs.',
      headers: { 'retry-after': '5' },
      cause: me.description,
    })
  }
  const { username } = me.result
  const { telegramLinkUrl: linkUrl } = settings
  return { username, url: `${linkUrl}/${username}`, login_widget: linkUrl === TELEGRAM }
}
