import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Deps } from '../work/work.ts'
import type { StartMessage } from './messages.ts'
import { sendPromptly } from './send-promptly.ts'

/** A write that a message follows. */
interface Followed extends Write {
  readonly followUp: { queue: QueueName; body: StartMessage }
}

/**
 * Returns the same write, which the unit of work that commits it follows with a message. So whoever adds the write to a
 * transaction needs no thought for the message.
 */
export const followedBy = (write: Write, queue: QueueName, body: StartMessage): Followed => ({
  ...write,
  followUp: { queue, body },
})

export const hasFollowUp = (write: Write): write is Followed => 'followUp' in write

/** Commits writes, and then sends the messages that follow them. A lost message is left to the sweeper. */
export const transactAndSend = async (
  deps: Pick<Deps, 'table' | 'queues' | 'log'>,
  writes: readonly Write[],
): Promise<void> => {
  await deps.table.transact(writes)
  const followed = writes.filter(hasFollowUp)
  await Promise.all(followed.map(({ followUp: { queue, body } }) => sendPromptly(deps, queue, body, body.event)))
}
