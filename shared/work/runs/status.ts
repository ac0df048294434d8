/** Statuses of a run. In a file of their own, because every function checks if a run is active and few read one. */
export const RUN_STATUSES = ['queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'cancelled'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
export const ACTIVE_STATUSES = ['queued', 'running', 'awaiting_approval'] as const

export const isActive = (status: RunStatus): boolean => (ACTIVE_STATUSES as readonly string[]).includes(status)
