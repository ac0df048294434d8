import type { App, Version } from '../../entities/apps.ts'
import { iso } from '../../kernel/clock.ts'
import type { VersionView } from './schemas.ts'

/** A version as its developer sees it. */
export const presentVersion = (app: App, version: Version, manifest: unknown): VersionView => ({
  id: version.id,
  version: version.version,
  status: version.status,
  created_at: iso(version.created_at),
  manifest,
  promoted: app.promoted_version_id === version.id,
})
