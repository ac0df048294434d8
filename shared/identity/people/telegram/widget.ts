import { createHash } from 'node:crypto'
import type { Clock } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { TelegramUser, telegramPerson } from './person.ts'
import { checkAge, checkHash, type SignedPerson, signInError } from './signed-fields.ts'

/** All fields from the login widget. The hash also covers fields that are unknown here. */
export type WidgetFields = Record<string, string | number>

/**
 * Verifies the login widget's data: fields whose `hash` uses the SHA-256 of the bot's token as its key.
 * @throws `unauthorized`
 */
export const verifyWidget = (clock: Clock, token: string, given: WidgetFields): SignedPerson => {
  const fields = new Map(Object.entries(given).map(([name, value]) => [name, String(value)]))
  const bytes = [...fields].reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0)
  if (bytes > LIMITS.signInDataBytes)
    throw signInError(`The login data is longer than ${LIMITS.signInDataBytes} bytes.`)
  const hash = checkHash(fields, createHash('sha256').update(token).digest())
  checkAge(clock, fields.get('auth_date'))
  const id = fields.get('id') ?? ''
  const user = TelegramUser().safeParse({
    ...Object.fromEntries(fields),
    id: /^\d+$/.test(id) ? Number(id) : undefined,
  })
  if (!user.success) throw signInError('The login data has no valid user.')
  return { person: telegramPerson(user.data), hash }
}
