import { listOnShelves } from './0001-marketplace-shelves.ts'
import { forgetRefreshSuccessors } from './0002-refresh-successors.ts'
import { listByLook } from './0003-similar-names.ts'
import { markAppsOfBlocked } from './0004-blocked-developers.ts'
import { withdrawLapsed } from './0005-lapsed-consents.ts'
import { fetchEarlierLogos } from './0006-logos.ts'
import { fetchPlatformLogo } from './0007-platform-logo.ts'
import { copyAudit, copyAuditDays } from './0008-audit-table.ts'
import { leanRecords } from './0010-lean-records.ts'
import { plainWrites } from './0011-plain-writes.ts'
import { countedAtEnd } from './0012-counted-at-end.ts'
import type { Release, Upgrade } from './upgrade.ts'

/** Every upgrade, oldest first. */
export const UPGRADES: readonly (Upgrade | Release)[] = [
  listOnShelves,
  forgetRefreshSuccessors,
  listByLook,
  markAppsOfBlocked,
  withdrawLapsed,
  fetchEarlierLogos,
  fetchPlatformLogo,
  copyAudit,
  copyAuditDays,
  leanRecords,
  plainWrites,
  countedAtEnd,
]
