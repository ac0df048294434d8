/** Reasons that a workspace can't be chosen. */
export const BLOCKS = ['admin_required', 'app_not_approved', 'installation_suspended'] as const
export type Block = (typeof BLOCKS)[number]
