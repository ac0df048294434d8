/**
 * Returns the first number of updates and messages. Numbers of an earlier run must not be reused: platforms remember
 * updates for days, and messages for as long as they like. The number therefore follows the clock, ten per second,
 * within 31 bits like Telegram's.
 */
export const firstNumber = (): number => Math.floor(Date.now() / 100) % 2 ** 31
