import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Task } from './entity.ts'
import type { TaskEventType } from './events.ts'

type Emitting = Pick<Deps, 'clock'>

const data = ({ id, status, title, conversation_id }: Task) => ({ task_id: id, status, title, conversation_id })

/** Event `task.created` for the agent that gets the task. Without one, only people's pages and statistics use it. */
export const emitTaskCreated = ({ clock }: Emitting, task: Task): Write[] => {
  const { assignee, workspace_id, private_to, created_at: at } = task
  const installation_id = assignee?.installation_id
  return [
    emitEvent<TaskEventType>(clock, {
      type: 'task.created',
      workspace_id,
      installation_id,
      private_to,
      data: data(task),
      at,
    }),
  ]
}

/** Event `task.updated` for the current or previous agent of the task. Without one, no agent gets it. */
export const emitTaskUpdated = ({ clock }: Emitting, task: Task, to: Task['assignee']): Write[] => {
  const { assignee, workspace_id, private_to, percent = null } = task
  const installation_id = to?.installation_id
  const assigned = to !== undefined && assignee?.installation_id === installation_id
  return [
    emitEvent<TaskEventType>(clock, {
      type: 'task.updated',
      workspace_id,
      installation_id,
      private_to,
      data: { ...data(task), assigned, percent },
    }),
  ]
}
