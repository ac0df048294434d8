import { createHmac } from 'node:crypto'
import { type Clock, SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sameSecret } from '#shared/kernel/secrets.ts'
import type { TelegramPerson } from './person.ts'

/** Person identified by data that Telegram signed with the bot's token. */
export interface SignedPerson {
  person: TelegramPerson
  /** Unique hash of this data, which is accepted only once. */
  hash: string
}

/**
 * Checks the hash over all other fields: the hex HMAC-SHA-256 of `key=value` lines, sorted by key
 * (core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app, core.telegram.org/widgets/login).
 * Rejects values with line breaks, since a name could then imitate other fields. Telegram's own values have none.
 * @returns the hash
 * @throws `unauthorized`
 */
export const checkHash = (fields: ReadonlyMap<string, string>, key: Buffer): string => {
  const { hash, ...others } = Object.fromEntries(fields)
  const lines = Object.keys(others)
    .sort()
    .map((name) => `${name}=${others[name]}`)
  const expected = createHmac('sha256', key).update(lines.join('\n')).digest('hex')
  const hasLineBreak = lines.some((line) => line.includes('\n'))
  if (hash === undefined || hasLineBreak || !sameSecret(hash, expected)) {
    throw signInError(
      'The signature is invalid. This sign-in does not come from this platform’s bot, or it was changed.',
    )
  }
  return expected
}

/**
 * Checks `auth_date` (seconds): at most 10 minutes ago, at most 1 minute ahead
 * (contract/people-and-workspaces.md#signing-in).
 * @throws `unauthorized`
 */
export const checkAge = (clock: Clock, authDate: string | undefined): void => {
  if (!/^\d{1,12}$/.test(authDate ?? '')) throw signInError('The sign-in has no valid auth_date.')
  const age = clock.now() - Number(authDate) * SECOND
  if (age > LIMITS.signInDataAge) throw signInError('The sign-in is older than 10 minutes.')
  if (age < -LIMITS.signInDataAhead) throw signInError('The sign-in is dated in the future.')
}

export const signInError = (message: string): PlatformError =>
  fail('unauthorized', { message, fix: 'Reopen the app from the messaging app, or sign in there again.' })
