import { badRequest } from './error.ts'

export type Button = { text: string } & ({ url: string } | { web_app: { url: string } } | { callback_data: string })

export interface Keyboard {
  inline_keyboard: Button[][]
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/

/**
 * Returns true for an address that Telegram accepts, or one of this machine. Telegram would reject the latter, but the
 * local platform has no other.
 * @param own origin of the platform's public address, which may be http in a local network
 */
export const isReachable = (address: string, protocols: readonly string[], own?: string): boolean => {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, origin } = new URL(address)
  return protocols.includes(protocol) || origin === own || (protocol === 'http:' && LOOPBACK.test(hostname))
}

const object = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined

const unparsable = (text: string) => badRequest(`can't parse inline keyboard button: ${text}`)

const readButton = (value: unknown, own: string | undefined): Button => {
  const given = object(value)
  if (!given) throw unparsable('InlineKeyboardButton must be an Object')
  const { text, url, callback_data: data } = given
  if (typeof text !== 'string') throw unparsable('Can\'t find field "text"')
  if (text === '') throw badRequest('inline keyboard button text must be non-empty')
  if (typeof url === 'string' && url !== '') {
    if (!isReachable(url, ['http:', 'https:', 'tg:']))
      throw badRequest(`inline keyboard button URL '${url}' is invalid: Wrong HTTP URL`)
    return { text, url }
  }
  if (typeof data === 'string' && data !== '') {
    if (Buffer.byteLength(data) > 64) throw badRequest('BUTTON_DATA_INVALID')
    return { text, callback_data: data }
  }
  const app = object(given.web_app)
  if (app) return { text, web_app: { url: readWebApp(app, 'inline keyboard button Web App', own) } }
  throw unparsable('Text buttons are unallowed in the inline keyboard')
}

/**
 * Reads the address of a Mini App.
 * @param of its name in error messages
 */
export const readWebApp = ({ url }: Record<string, unknown>, of: string, own: string | undefined): string => {
  if (typeof url !== 'string') throw unparsable('Can\'t find field "url"')
  if (!isReachable(url, ['https:'], own))
    throw badRequest(`${of} URL '${url}' is invalid: Only HTTPS links are allowed`)
  return url
}

/**
 * Reads the inline keyboard of a `reply_markup`.
 *
 * @returns undefined for a missing or empty keyboard
 * @throws TelegramError 400 with Telegram's message
 */
export const readKeyboard = (markup: unknown, own: string | undefined): Keyboard | undefined => {
  if (markup === undefined) return undefined
  const given = object(markup)
  if (!given) throw badRequest('object expected as reply markup')
  const rows = given.inline_keyboard
  if (rows === undefined) throw badRequest('the local stand-in supports only inline keyboards')
  if (!Array.isArray(rows) || !rows.every(Array.isArray))
    throw badRequest('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays')
  const read = rows
    .map((row: unknown[]) => row.map((button) => readButton(button, own)))
    .filter((row) => row.length > 0)
  return read.length > 0 ? { inline_keyboard: read } : undefined
}
