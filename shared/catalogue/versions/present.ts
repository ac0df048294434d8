import { iso } from '#shared/kernel/clock.ts'
import type { App } from '../apps/entity.ts'
import type { Version } from './entity.ts'
import type { VersionView } from './schemas.ts'

/** Returns a version as its developer sees it. */
export const presentVersion = (app: App, version: Version, manifest: unknown): VersionView => ({
  id: version.id,
  version: version.version,
  status: version.status,
  created_at: iso(version.created_at),
  manifest,
  ...(version.card && { card: version.card }),
  promoted: app.promoted_version_id === version.id,
})
