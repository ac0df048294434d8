import { PLAIN_WRITES } from '#shared/foundation/upgrades/index.ts'
import type { Release } from './upgrade.ts'

/** Lets functions write the shapes of this version, now that none of the version before runs. */
export const plainWrites: Release = {
  id: PLAIN_WRITES,
  title: 'lets functions write steps and the ends of runs with fewer writes, which the version before can’t read',
}
