import { iso } from '#shared/kernel/clock.ts'
import { type CardWatch, presentChange } from '../agent-cards/index.ts'
import type { App } from '../apps/entity.ts'
import type { Version } from './entity.ts'
import type { VersionView } from './schemas.ts'

/** Returns a version as its developer sees it. @param watch the check of the card of the app's newest version */
export const presentVersion = (app: App, version: Version, manifest: unknown, watch?: CardWatch): VersionView => ({
  id: version.id,
  version: version.version,
  status: version.status,
  created_at: iso(version.created_at),
  manifest,
  ...(version.card && { card: version.card }),
  ...(watch?.version_id === version.id && watch.change && { card_change: presentChange(watch.change) }),
  promoted: app.promoted_version_id === version.id,
})
