import type { App } from '#shared/catalogue/apps/index.ts'
import type { Installation } from './entity.ts'

/** Reports whether the app has another version to move to. A suspended app has none. */
export const canUpgrade = (
  { status, promoted_version_id }: Pick<App, 'status' | 'promoted_version_id'>,
  { version_id }: Pick<Installation, 'version_id'>,
): boolean => status !== 'suspended' && promoted_version_id !== undefined && promoted_version_id !== version_id
