import { createHmac } from 'node:crypto'
import type { Clock } from '../../../kernel/clock.ts'
import { SECOND } from '../../../kernel/clock.ts'
import { fail, type PlatformError } from '../../../kernel/errors.ts'
import { LIMITS } from '../../../kernel/limits.ts'
import { sameSecret } from '../../../kernel/secrets.ts'
import type { TelegramPerson } from './person.ts'

/** Who signs in, by data that Telegram signed with the bot's token. */
export interface SignedPerson {
  person: TelegramPerson
  /** What makes this data one of a kind: it is accepted once. */
  hash: string
}

/**
 * Checks the hash over every other field: HMAC-SHA-256, in hex, of `key=value` lines in the order of their keys
 * (core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app, core.telegram.org/widgets/login).
 * A line break would let a name pass for further fields; Telegram's own values have none.
 * @returns the hash
 * @throws `unauthorized`
 */
export const checkHash = (fields: ReadonlyMap<string, string>, key: Buffer): string => {
  const { hash, ...others } = Object.fromEntries(fields)
  const lines = Object.keys(others)
    .sort()
    .map((name) => `${name}=${others[name]}`)
  const expected = createHmac('sha256', key).update(lines.join('\n')).digest('hex')
  const split = lines.some((line) => line.includes('\n'))
  if (hash === undefined || split || !sameSecret(hash, expected)) {
    throw refused('The signature is wrong: this sign-in does not come from this platform’s bot, or was changed.')
  }
  return expected
}

/**
 * Checks `auth_date` (seconds): at most 10 minutes ago, at most 1 minute ahead (decisions §3).
 * @throws `unauthorized`
 */
export const checkAge = (clock: Clock, authDate: string | undefined): void => {
  if (!/^\d{1,12}$/.test(authDate ?? '')) throw refused('The sign-in does not say when it was made.')
  const age = clock.now() - Number(authDate) * SECOND
  if (age > LIMITS.signInDataAge) throw refused('The sign-in is older than 10 minutes.')
  if (age < -LIMITS.signInDataAhead) throw refused('The sign-in is dated in the future.')
}

export const refused = (message: string): PlatformError =>
  fail('unauthorized', { message, fix: 'Open it again from the messaging app, or sign in there once more.' })
