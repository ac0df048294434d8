import { randomBytes, randomInt } from 'node:crypto'
import type { BotOptions } from './bots.ts'

/** @BotFather's rejection of a new bot. */
export class Declined extends Error {}

/**
 * Creates a bot as @BotFather does. Its token has Telegram's format and works only for the stand-in.
 * @throws {Declined} with @BotFather's message
 */
export const newBot = (taken: readonly string[], name: string, username: string): BotOptions & { name: string } => {
  const shown = name.trim()
  const handle = username.trim().replace(/^@/, '')
  if (shown === '' || shown.length > 64) throw new Declined('Sorry, the name must have 1 to 64 characters.')
  if (!/^[a-z]\w{4,31}$/i.test(handle)) throw new Declined('Sorry, this username is invalid.')
  if (!/bot$/i.test(handle)) {
    throw new Declined("Sorry, the username must end in 'bot'. E.g. 'Tetris_bot' or 'Tetrisbot'")
  }
  if (taken.some((other) => other.toLowerCase() === handle.toLowerCase())) {
    throw new Declined('Sorry, this username is already taken. Please try something different.')
  }
  const token = `${randomInt(1_000_000_000, 10_000_000_000)}:AA${randomBytes(25).toString('base64url').slice(0, 33)}`
  return { token, username: handle, name: shown }
}
