import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import type { BotInfoView } from './schemas.ts'

/** Telegram's own links; anywhere else a stand-in takes its place, and the login widget signs for Telegram's bots only. */
const TELEGRAM = 'https://t.me'

/**
 * `GET /console/bot/info`: where people meet the bot.
 * @throws `conflict` when nobody could say yet who the bot is
 */
export const botInfo = async ({ bot, settings }: Pick<Deps, 'bot' | 'settings'>): Promise<BotInfoView> => {
  if (!(await bot.credentials())) return { username: null, url: null, login_widget: false }
  const me = await bot.me()
  if (!me.ok) {
    throw fail('conflict', {
      message: 'The messaging app does not say who the platform’s bot is.',
      fix: 'Try again in some seconds; an operator finds the reason in the logs.',
      headers: { 'retry-after': '5' },
      cause: me.description,
    })
  }
  const { username } = me.result
  const { linkUrl } = settings.telegram
  return { username, url: `${linkUrl}/${username}`, login_widget: linkUrl === TELEGRAM }
}
