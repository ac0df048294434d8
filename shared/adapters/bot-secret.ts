import type { Bot } from '../domain/ports.ts'
import type { TelegramOptions } from './telegram.ts'

const refuse = (): never => {
  throw new Error('this function speaks to the Bot API by itself')
}

/** The platform's own bot for functions that only need to know who it is: they carry no client for it. */
export const createBotSecret = ({ credentials }: Pick<TelegramOptions, 'credentials'>): Bot => ({
  credentials,
  me: refuse,
  call: refuse,
})
