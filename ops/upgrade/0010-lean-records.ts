import { LEAN_RECORDS } from '#shared/foundation/upgrades/index.ts'
import type { Release } from './upgrade.ts'

/** Lets functions write the shapes of this version, now that none of the version before runs. */
export const leanRecords: Release = {
  id: LEAN_RECORDS,
  title: 'lets functions write feeds with fewer writes, which the version before can’t read',
}
