import { createHmac } from 'node:crypto'
import type { Clock } from '../../../kernel/clock.ts'
import { LIMITS } from '../../../kernel/limits.ts'
import { TelegramUser, telegramPerson } from './person.ts'
import { checkAge, checkHash, refused, type SignedPerson } from './signed-fields.ts'

/**
 * Reads a Mini App's init data: a query string whose `hash` is made with HMAC-SHA-256 of the bot's token under the key
 * `WebAppData`. `signature` is one of the fields that it covers.
 * @throws `unauthorized`
 */
export const verifyInitData = (clock: Clock, token: string, initData: string): SignedPerson => {
  if (Buffer.byteLength(initData) > LIMITS.signInDataBytes) throw refused('The init data is too long.')
  const fields = fieldsOf(initData)
  const hash = checkHash(fields, createHmac('sha256', 'WebAppData').update(token).digest())
  checkAge(clock, fields.get('auth_date'))
  const user = TelegramUser().safeParse(json(fields.get('user')))
  if (!user.success) throw refused('The init data names no person.')
  return { person: telegramPerson(user.data), hash }
}

const fieldsOf = (initData: string): Map<string, string> => {
  const pairs = [...new URLSearchParams(initData)]
  const fields = new Map(pairs)
  if (fields.size < pairs.length) throw refused('The init data has a field twice.')
  return fields
}

const json = (text = ''): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
