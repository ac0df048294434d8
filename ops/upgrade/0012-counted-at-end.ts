import { COUNTED_AT_END } from '#shared/foundation/upgrades/index.ts'
import type { Release } from './upgrade.ts'

/** Lets functions list active runs where this version finds them, now that none of the version before runs. */
export const countedAtEnd: Release = {
  id: COUNTED_AT_END,
  title: 'lets functions count the start of a long run with its end, which the version before can’t add to its figures',
}
