import { createHash } from 'node:crypto'
import type { Clock } from '../../../kernel/clock.ts'
import { LIMITS } from '../../../kernel/limits.ts'
import { TelegramUser, telegramPerson } from './person.ts'
import { checkAge, checkHash, refused, type SignedPerson } from './signed-fields.ts'

/** What the login widget gave, all of it: fields that are new there are covered by the hash too. */
export type WidgetFields = Record<string, string | number>

/**
 * Reads the login widget's answer: fields whose `hash` is made with SHA-256 of the bot's token.
 * @throws `unauthorized`
 */
export const verifyWidget = (clock: Clock, token: string, given: WidgetFields): SignedPerson => {
  const fields = new Map(Object.entries(given).map(([name, value]) => [name, String(value)]))
  const bytes = [...fields].reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0)
  if (bytes > LIMITS.signInDataBytes) throw refused('The login data is too long.')
  const hash = checkHash(fields, createHash('sha256').update(token).digest())
  checkAge(clock, fields.get('auth_date'))
  const id = fields.get('id') ?? ''
  const user = TelegramUser().safeParse({
    ...Object.fromEntries(fields),
    id: /^\d+$/.test(id) ? Number(id) : undefined,
  })
  if (!user.success) throw refused('The login data names no person.')
  return { person: telegramPerson(user.data), hash }
}
