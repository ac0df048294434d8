import type { App } from './entity.ts'

/**
 * Returns true if changes of the app need review: new versions, and {@link MODERATED_FIELDS}. After its first approval an
 * app is moderated forever, in any status.
 */
export const isModerated = (app: Pick<App, 'status' | 'approved_at'>): boolean =>
  app.approved_at !== undefined || app.status === 'approved'
