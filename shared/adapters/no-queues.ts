import type { MessageQueues } from '../kernel/ports/queues.ts'

/** Stand-in for request functions that send no messages. */
export const noQueues: MessageQueues = {
  send: async (queue) => {
    throw new Error(`this function does not declare the capability queue:${queue}`)
  },
}
