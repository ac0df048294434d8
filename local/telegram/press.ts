import { randomBytes, randomInt } from 'node:crypto'
import type { Chat } from './chats.ts'
import type { PressAnswer, Presses } from './methods.ts'
import { encodeFields, type Signer } from './signing.ts'
import type { Updates } from './updates.ts'

/** Effect of pressing a button: opens an address, opens a Mini App, or asks the bot. */
export type Pressed =
  | { kind: 'url'; url: string }
  /** With the init data in its fragment. */
  | { kind: 'web_app'; url: string }
  /** `answer` resolves with the bot's response, or undefined if none arrives in time. */
  | { kind: 'callback'; updateId: number; answer: Promise<PressAnswer | undefined> }

/** Time after which a press expires and answering it is an error. */
const ANSWER_WITHIN_MS = 15_000

/** Returns the address that opens a Mini App. Telegram's web client passes all data in the fragment. */
const withInitData = (url: string, initData: string): string => {
  const fragment = encodeFields({ tgWebAppData: initData, tgWebAppVersion: '9.1', tgWebAppPlatform: 'web' })
  return `${url}${url.includes('#') ? '&' : '#'}${fragment}`
}

/**
 * Creates the function that presses the n-th button of a message.
 * @throws Error if there is no such button
 */
export const createPress = (around: { updates: Updates; presses: Presses; signer: Signer }) => {
  const { updates, presses, signer } = around
  return (chat: Chat, messageId: number, index: number): Pressed => {
    const message = chat.messages.find((each) => each.message_id === messageId)
    const button = message?.reply_markup?.inline_keyboard.flat()[index]
    if (!message || !button) throw new Error(`Message ${messageId} has no button ${index}`)
    if ('url' in button) return { kind: 'url', url: button.url }
    if ('web_app' in button) {
      const query = { query_id: `AA${randomBytes(12).toString('base64url')}` }
      return { kind: 'web_app', url: withInitData(button.web_app.url, signer.initData(chat.person, query)) }
    }
    const id = String(randomInt(2 ** 47))
    const answer = new Promise<PressAnswer | undefined>((resolve) => {
      presses.set(id, resolve)
      setTimeout(() => {
        presses.delete(id)
        resolve(undefined)
      }, ANSWER_WITHIN_MS).unref()
    })
    const query = { id, from: chat.person, message, chat_instance: String(chat.person.id), data: button.callback_data }
    return { kind: 'callback', updateId: updates.push(chat.person.id, { callback_query: query }), answer }
  }
}
