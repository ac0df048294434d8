import type { Release, Upgrade } from './upgrade.ts'

/** Every upgrade, oldest first. */
export const UPGRADES: readonly (Upgrade | Release)[] = []
