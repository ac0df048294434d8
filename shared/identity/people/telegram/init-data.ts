import { createHmac } from 'node:crypto'
import type { Clock } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { TelegramUser, telegramPerson } from './person.ts'
import { checkAge, checkHash, type SignedPerson, signInError } from './signed-fields.ts'

/**
 * Verifies a Mini App's init data: a query string whose `hash` uses the key HMAC-SHA-256(`WebAppData`, bot token). The
 * hash covers all other fields, including `signature`.
 * @throws `unauthorized`
 */
export const verifyInitData = (clock: Clock, token: string, initData: string): SignedPerson => {
  if (Buffer.byteLength(initData) > LIMITS.signInDataBytes)
    throw signInError(`The init data is longer than ${LIMITS.signInDataBytes} bytes.`)
  const fields = fieldsOf(initData)
  const hash = checkHash(fields, createHmac('sha256', 'WebAppData').update(token).digest())
  checkAge(clock, fields.get('auth_date'))
  const user = TelegramUser().safeParse(json(fields.get('user')))
  if (!user.success) throw signInError('The init data has no valid user.')
  return { person: telegramPerson(user.data), hash }
}

const fieldsOf = (initData: string): Map<string, string> => {
  const pairs = [...new URLSearchParams(initData)]
  const fields = new Map(pairs)
  if (fields.size < pairs.length) throw signInError('The init data contains a field twice.')
  return fields
}

const json = (text = ''): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
