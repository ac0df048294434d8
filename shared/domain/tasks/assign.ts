import { ConversationEntity, conversationPlace } from '../../entities/conversations.ts'
import { AssignedTaskEntity, type Task } from '../../entities/tasks.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { markTask } from '../runs/chain.ts'
import { TaskMoved } from './change.ts'
import { assignment } from './create.ts'
import { tellAssigned, tellUpdated } from './tell.ts'

/**
 * What goes with a change of a task: it moves from one agent's list to another's, its conversation follows, and both are
 * told. Nobody else reads or writes there from now on. What its agent does upon that stands where the task does.
 */
export const following = async (work: Work, before: Task, after: Task): Promise<Write[]> => {
  const [from, to] = [before.assignee, after.assignee]
  const reassigned = from?.installation_id !== to?.installation_id
  const conversation = reassigned || before.title !== after.title ? await conversationFollows(work, before, after) : []
  const moved = [...conversation, ...markTask(after, work.clock.now())]
  if (!reassigned) return [...moved, ...tellUpdated(work, after, to)]
  return [
    ...moved,
    ...(from ? [AssignedTaskEntity.delete(assignment(before, from))] : []),
    ...(to ? [AssignedTaskEntity.create(assignment(after, to))] : []),
    // As it was: what changed with it is its new agent’s alone.
    ...(from ? tellUpdated(work, { ...before, assignee: to }, from) : []),
    ...tellAssigned(work, after),
  ]
}

const conversationFollows = async (
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
        otherwise: () => new TaskMoved(),
      },
    ),
  ]
}
