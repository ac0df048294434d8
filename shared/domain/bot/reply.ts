import type { ApiMethods, InlineKeyboardMarkup, Opts } from 'grammy/types'
import type { Deps } from '../deps.ts'
import { later } from './claim.ts'
import type { Pressed } from './read-update.ts'

type Speaking = Pick<Deps, 'bot' | 'log'>

/** Writes to a person. No `parse_mode`: what stands in names is text. */
export const sayTo = (deps: Speaking, chatId: number, text: string, keyboard?: InlineKeyboardMarkup): Promise<void> =>
  tell(deps, 'sendMessage', {
    chat_id: chatId,
    text,
    link_preview_options: { is_disabled: true },
    ...(keyboard && { reply_markup: keyboard }),
  })

/** Answers a pressed button, and puts the answer in place of the question and its buttons. */
export const replaceQuestion = async (
  deps: Speaking,
  { queryId, chatId, messageId }: Pressed,
  text: string,
): Promise<void> => {
  await acknowledge(deps, { queryId })
  await tell(deps, 'editMessageText', {
    chat_id: chatId,
    message_id: messageId,
    text,
    link_preview_options: { is_disabled: true },
  })
}

/** Tells the app that the press arrived. */
export const acknowledge = (deps: Speaking, { queryId }: Pick<Pressed, 'queryId'>): Promise<void> =>
  tell(deps, 'answerCallbackQuery', { callback_query_id: queryId })

/**
 * Calls the Bot API. What it refuses for good, because the person blocked the bot or the message is gone, is logged and
 * over: the update coming again would not mend it.
 * @throws `conflict` when the same may work later
 */
const tell = async <M extends keyof ApiMethods>({ bot, log }: Speaking, method: M, payload: Opts<M>): Promise<void> => {
  const answer = await bot.call(method, payload)
  if (answer.ok) return
  const { retry, status, description, retryAfterMs } = answer
  log.warn('the Bot API did not take a call', { method, status, description, retry })
  if (retry) throw later('The Bot API does not take the answer now.', retryAfterMs)
}
