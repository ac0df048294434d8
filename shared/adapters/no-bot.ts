import type { Bot } from '../kernel/ports/bot.ts'

const refuse = (): never => {
  throw new Error('this function does not declare the capability bot')
}

/** Stand-in for functions without the capability `bot`. They carry no client of the Bot API and know no token. */
export const noBot: Bot = { credentials: refuse, me: refuse, call: refuse }
