import { leanRecords } from './0010-lean-records.ts'
import { plainWrites } from './0011-plain-writes.ts'
import { countedAtEnd } from './0012-counted-at-end.ts'
import type { Release, Upgrade } from './upgrade.ts'

/** Every upgrade, oldest first. */
export const UPGRADES: readonly (Upgrade | Release)[] = [leanRecords, plainWrites, countedAtEnd]
