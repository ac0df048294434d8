import type { ApiMethods, InlineKeyboardMarkup, Opts } from 'grammy/types'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Pressed } from './read-update.ts'
import { redeliver } from './update-lease.ts'

type Speaking = Pick<Deps, 'bot' | 'log'>

/** Sends a message to a person. Without `parse_mode`, names are never parsed as markup. */
export const sendToPerson = (
  deps: Speaking,
  chatId: number,
  text: string,
  keyboard?: InlineKeyboardMarkup,
): Promise<void> =>
  callBot(deps, 'sendMessage', {
    chat_id: chatId,
    text,
    link_preview_options: { is_disabled: true },
    ...(keyboard && { reply_markup: keyboard }),
  })

/** Acknowledges a pressed button and replaces the question and its buttons with the answer. */
export const replaceQuestion = async (
  deps: Speaking,
  { queryId, chatId, message }: Pressed,
  text: string,
): Promise<void> => {
  await acknowledge(deps, { queryId })
  await replaceMessage(deps, chatId, message.id, text)
}

/** Replaces a message of the bot and removes its buttons. */
export const replaceMessage = (deps: Speaking, chatId: number, messageId: number, text: string): Promise<void> =>
  callBot(deps, 'editMessageText', {
    chat_id: chatId,
    message_id: messageId,
    text,
    link_preview_options: { is_disabled: true },
  })

/** Acknowledges that the press arrived. @param alert text to show, up to 200 characters */
export const acknowledge = (deps: Speaking, { queryId }: Pick<Pressed, 'queryId'>, alert?: string): Promise<void> =>
  callBot(deps, 'answerCallbackQuery', {
    callback_query_id: queryId,
    ...(alert !== undefined && { text: alert, show_alert: true }),
  })

/**
 * Calls the Bot API. Permanent refusals, such as a person who blocked the bot or a deleted message, are only logged.
 * Receiving the update again wouldn't help.
 * @throws `conflict` when a retry may succeed
 */
const callBot = async <M extends keyof ApiMethods>(
  { bot, log }: Speaking,
  method: M,
  payload: Opts<M>,
): Promise<void> => {
  const answer = await bot.call(method, payload)
  if (answer.ok) return
  const { retry, status, description, retryAfterMs } = answer
  log.warn('the Bot API refused a call', { method, status, description, retry })
  if (retry) throw redeliver('The Bot API is temporarily not accepting the reply.', retryAfterMs)
}
