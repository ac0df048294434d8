import type { Bot } from '../domain/ports.ts'

const refuse = (): never => {
  throw new Error('this function does not declare the capability bot')
}

/** For functions that have nothing to do with the bot: they carry no client of the Bot API and know no token. */
export const noBot: Bot = { credentials: refuse, me: refuse, call: refuse }
