/**
 * Where updates and messages begin to be counted. What an earlier run gave out must not come again: platforms remember updates
 * for days, and messages for as long as they like. So it follows the clock, ten a second, within 31 bits as Telegram's do.
 */
export const firstNumber = (): number => Math.floor(Date.now() / 100) % 2 ** 31
