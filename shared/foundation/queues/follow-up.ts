import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Deps, FollowedWrite, WorkWrite } from '../work/work.ts'
import type { StartMessage } from './messages.ts'
import { sendPromptly } from './send-promptly.ts'

/** Returns the same write, followed by a message that the unit of work sends once it has committed the write. */
export const followedBy = (write: Write, queue: QueueName, body: StartMessage): FollowedWrite => ({
  ...write,
  followUp: { queue, body },
})

export const hasFollowUp = (write: WorkWrite): write is FollowedWrite => write.followUp !== undefined

/** Commits writes, and then sends the messages that follow them. A lost message is left to the sweeper. */
export const transactAndSend = async (
  deps: Pick<Deps, 'table' | 'queues' | 'log'>,
  writes: readonly WorkWrite[],
): Promise<void> => {
  await deps.table.transact(writes.map((write) => ({ ...write, followUp: undefined })))
  const followed = writes.filter(hasFollowUp)
  await Promise.all(followed.map(({ followUp: { queue, body } }) => sendPromptly(deps, queue, body, body.event)))
}
