import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { ConversationEntity, conversationPlace } from '../conversations/entity.ts'
import { markTask } from '../runs/chain.ts'
import { assignment } from './create.ts'
import { emitTaskCreated, emitTaskUpdated } from './emit.ts'
import { AssignedTaskEntity, type Task } from './entity.ts'

/**
 * Writes that accompany a task's change. The task moves between the agents' lists, its conversation follows, and both
 * agents get an event. Only the new agent can use the conversation from now on. Its calls continue the task's chain.
 */
export const reassignmentWrites = async (work: Work, before: Task, after: Task): Promise<Write[]> => {
  const [from, to] = [before.assignee, after.assignee]
  const reassigned = from?.installation_id !== to?.installation_id
  const conversation = reassigned || before.title !== after.title ? await conversationUpdate(work, before, after) : []
  const moved = [...conversation, ...markTask(after, work.clock.now())]
  if (!reassigned) return [...moved, ...emitTaskUpdated(work, after, to)]
  return [
    ...moved,
    ...(from ? [AssignedTaskEntity.delete(assignment(before, from))] : []),
    ...(to ? [AssignedTaskEntity.create(assignment(after, to))] : []),
    // The old state, because the other changes are only for the new agent.
    ...(from ? emitTaskUpdated(work, { ...before, assignee: to }, from) : []),
    ...emitTaskCreated(work, after),
  ]
}

const conversationUpdate = async (
  { table }: Work,
  { workspace_id, conversation_id }: Task,
  { title, assignee }: Task,
): Promise<Write[]> => {
  const conversation = await table.get(ConversationEntity, { workspace_id, id: conversation_id })
  if (!conversation) return []
  const fields = { title, installation_id: assignee?.installation_id }
  return [
    ConversationEntity.update(
      conversation,
      { set: fields, list: conversationPlace({ ...conversation, ...fields }) ?? null },
      {
        where: { last_message_at: conversation.last_message_at ?? missing },
      },
    ),
  ]
}
