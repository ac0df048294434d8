import type { Sockets } from '../kernel/ports/sockets.ts'

const refuse = (): never => {
  throw new Error('this function does not declare the capability sockets')
}

/** Stand-in for functions that send nothing to live connections. */
export const noSockets: Sockets = { send: refuse, close: refuse }
