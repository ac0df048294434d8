/** Statuses of a task. In a file of their own, because the tool catalogue names them and few functions read a task. */
export const TASK_STATUSES = ['todo', 'in_progress', 'discuss', 'review', 'done'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** Priorities of a task, lowest first. Tasks without one are `normal`. */
export const TASK_PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const
