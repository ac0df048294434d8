import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { Person } from './person.ts'

/** Returns `key=value` lines sorted by key, the input of both hashes. */
const checkString = (fields: Record<string, string>): string =>
  Object.keys(fields)
    .sort()
    .map((key) => `${key}=${fields[key]}`)
    .join('\n')

/** Encodes fields as Telegram does: a space is `%20`, not `+`. */
export const encodeFields = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&')

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text)

/** Signs the data that Telegram passes to a Mini App and to the login widget's page. */
export interface Signer {
  /**
   * Returns the text of a Mini App's `initData`.
   *
   * @param extras further or replaced fields, such as `start_param` or another `auth_date` (seconds)
   */
  initData(person: Person, extras?: Record<string, string>): string
  /** Returns the login widget's response, as in the query of the page that the person is sent to. */
  widget(person: Person, extras?: Record<string, string>): WidgetAnswer
}

export interface WidgetAnswer {
  id: number
  first_name: string
  last_name?: string
  username?: string
  /** In epoch seconds. */
  auth_date: number
  hash: string
}

/**
 * Signs as Telegram does: init data with HMAC(HMAC("WebAppData", token)), the widget's response with
 * HMAC(SHA-256(token)). The `signature` for third parties is a real Ed25519 signature, with a key of this process
 * instead of Telegram's. It is part of the data that `hash` covers.
 *
 * @see https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
 * @see https://core.telegram.org/widgets/login#checking-authorization
 */
export const createSigner = (token: string, now: () => number): Signer => {
  const seconds = () => String(Math.floor(now() / 1_000))
  const botId = token.split(':')[0]
  const { privateKey } = generateKeyPairSync('ed25519')
  const initKey = hmac('WebAppData', token).digest()
  const widgetKey = createHash('sha256').update(token).digest()
  return {
    initData: ({ is_bot: _, ...user }, extras = {}) => {
      const unsigned = { user: JSON.stringify({ ...user, allows_write_to_pm: true }), auth_date: seconds(), ...extras }
      const signature = sign(null, Buffer.from(`${botId}:WebAppData\n${checkString(unsigned)}`), privateKey)
      const fields = { ...unsigned, signature: signature.toString('base64url') }
      return encodeFields({ ...fields, hash: hmac(initKey, checkString(fields)).digest('hex') })
    },
    widget: ({ id, first_name, last_name, username }, extras = {}) => {
      const fields = {
        id: String(id),
        first_name,
        ...(last_name !== undefined && { last_name }),
        ...(username !== undefined && { username }),
        auth_date: seconds(),
        ...extras,
      }
      const hash = hmac(widgetKey, checkString(fields)).digest('hex')
      return { ...fields, id: Number(fields.id), auth_date: Number(fields.auth_date), hash }
    },
  }
}
