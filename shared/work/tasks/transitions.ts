import { fail } from '#shared/kernel/errors.ts'
import type { Task } from './entity.ts'
import type { TaskStatus } from './status.ts'

/**
 * Statuses to which an agent may move its task with `status` (contract/tasks-files-conversations.md#task-transitions). A
 * question moves a task from any status to `discuss`, a report to `review`. Only a person sets `done`, and they may set any
 * status.
 */
export const AGENT_MOVES: Record<TaskStatus, readonly TaskStatus[]> = {
  todo: ['in_progress'],
  in_progress: ['discuss'],
  discuss: ['in_progress'],
  review: [],
  done: [],
}

/** Refuses a move that an agent may not make. @throws `conflict` with the allowed moves */
export const requireAgentMove = ({ status }: Task, to: TaskStatus): void => {
  const allowed = AGENT_MOVES[status]
  if (allowed.includes(to)) return
  throw fail('conflict', {
    message: `An agent can’t move a task from ${status} to ${to}.`,
    fix: allowed.length > 0 ? `Move it to ${allowed.join(' or ')}. ${OTHER_MOVES}` : OTHER_MOVES,
    details: { status, allowed },
  })
}

const OTHER_MOVES =
  'Ask a question to move the task to discuss, report a result to move it to review, or ask a person to set done.'
