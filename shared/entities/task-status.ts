/** Where a task stands. Apart from the task itself: the tools' catalogue names them, and few read any. */
export const TASK_STATUSES = ['todo', 'in_progress', 'discuss', 'review', 'done'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]
