import type { Task } from '../../entities/tasks.ts'
import { tell } from '../../events/outbox.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

type Telling = Pick<Deps, 'clock'>

const data = ({ id, status, title, conversation_id }: Task) => ({ task_id: id, status, title, conversation_id })

/** `task.created` to the agent whose task it became; without one no agent sees it, and people's pages and figures follow it. */
export const tellAssigned = ({ clock }: Telling, task: Task): Write[] => {
  const { assignee, workspace_id } = task
  const installation_id = assignee?.installation_id
  return [tell(clock, { type: 'task.created', workspace_id, installation_id, data: data(task) })]
}

/** `task.updated` to an agent whose task it is, or was until now; to none where nobody has it. */
export const tellUpdated = ({ clock }: Telling, task: Task, to: Task['assignee']): Write[] => {
  const { assignee, workspace_id, percent = null } = task
  const installation_id = to?.installation_id
  const assigned = to !== undefined && assignee?.installation_id === installation_id
  return [
    tell(clock, {
      type: 'task.updated',
      workspace_id,
      installation_id,
      data: { ...data(task), assigned, percent },
    }),
  ]
}
