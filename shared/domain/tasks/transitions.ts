import type { Task, TaskStatus } from '../../entities/tasks.ts'
import { fail } from '../../kernel/errors.ts'

/**
 * Where an agent may move its task with `status` (decisions §8). A question moves a task from anywhere to `discuss`, a
 * report to `review`; `done` is a person’s word, and a person may set any status.
 */
export const AGENT_MOVES: Record<TaskStatus, readonly TaskStatus[]> = {
  todo: ['in_progress'],
  in_progress: ['discuss'],
  discuss: ['in_progress'],
  review: [],
  done: [],
}

/** @throws `conflict` naming the moves that are possible */
export const requireAgentMove = ({ status }: Task, to: TaskStatus): void => {
  const allowed = AGENT_MOVES[status]
  if (allowed.includes(to)) return
  throw fail('conflict', {
    message: `An agent cannot move a task from ${status} to ${to}.`,
    fix: allowed.length > 0 ? `From ${status} it can move to ${allowed.join(' or ')}. ${WAYS}` : WAYS,
    details: { status, allowed },
  })
}

const WAYS = 'A question moves a task to discuss, a report to review; only a person sets done.'
