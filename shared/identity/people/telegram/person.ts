import * as z from 'zod'
import { cleanName } from '#shared/kernel/names.ts'

/** Telegram profile, limited to the fields that the platform stores. */
export interface TelegramPerson {
  id: number
  /** First and last name. Never empty. */
  name: string
  /** Used in the name of the person's first workspace. */
  firstName: string
  /** BCP 47. */
  locale: string
  /** Public handle, without `@`. */
  handle?: string | undefined
}

/**
 * Schema of Telegram's `User`, or of the user fields that the login widget sends. Ignores other fields.
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

/** Longest name that is stored. Telegram limits first and last name to 64 characters each. */
const MAX_NAME = 100

export const telegramPerson = (user: z.infer<ReturnType<typeof TelegramUser>>): TelegramPerson => {
  const firstName = clean(user.first_name) || clean(user.username) || 'Somebody'
  return {
    id: user.id,
    name: clean(`${firstName} ${user.last_name ?? ''}`),
    firstName,
    locale: locale(user.language_code),
    // Telegram's own rule (core.telegram.org/method/account.checkUsername), so that a link with it leads nowhere else.
    handle: /^\w{4,32}$/.test(user.username ?? '') ? user.username : undefined,
  }
}

/** Cleans a name instead of refusing it, because the person can't correct it here. Returns '' if nothing remains. */
const clean = (text = ''): string => cleanName(text, MAX_NAME)

/** Normalizes a language tag, which Telegram sends in any case. Invalid tags become English. */
const locale = (tag = 'en'): string => {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? 'en'
  } catch {
    return 'en'
  }
}

/** Returns the person's identity on this platform, for every way to sign in. */
export const telegramIdentity = ({ id }: Pick<TelegramPerson, 'id'>): string => `telegram:${id}`
