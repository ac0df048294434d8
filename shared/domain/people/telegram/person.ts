import * as z from 'zod'

/** Who somebody is to Telegram, as far as the platform keeps it. */
export interface TelegramPerson {
  id: number
  /** First and last name; never empty. */
  name: string
  /** For what is named after the person. */
  firstName: string
  /** BCP 47. */
  locale: string
}

/**
 * A `User` of Telegram, or the fields that the login widget gives of one; more of them than are read are left alone.
 * Source: core.telegram.org/bots/api#user, core.telegram.org/bots/webapps#webappuser
 */
export const TelegramUser = () =>
  z.object({
    id: z.int().positive(),
    is_bot: z.literal(false).optional(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    username: z.string().optional(),
    language_code: z.string().optional(),
  })

/** Names have at most 64 characters each there. */
const MAX_NAME = 100

export const telegramPerson = (user: z.infer<ReturnType<typeof TelegramUser>>): TelegramPerson => {
  const firstName = clean(user.first_name) || clean(user.username) || 'Somebody'
  return {
    id: user.id,
    name: clean(`${firstName} ${user.last_name ?? ''}`),
    firstName,
    locale: locale(user.language_code),
  }
}

/**
 * One line that can be stored, cut between characters. What turns the direction of writing goes, because a name stands in
 * sentences of ours; joiners stay, because names and emoji need them. Empty when nothing of it can be seen.
 */
const clean = (text = ''): string => {
  const plain = text
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '')
  return /[^\p{Cf}\p{Z}]/u.test(plain) ? [...plain.trim()].slice(0, MAX_NAME).join('') : ''
}

/** Telegram sends language tags in any case; whatever is none is English. */
const locale = (tag = 'en'): string => {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? 'en'
  } catch {
    return 'en'
  }
}

/** The person's identity on this platform, however they come. */
export const telegramIdentity = ({ id }: Pick<TelegramPerson, 'id'>): string => `telegram:${id}`
