import { ifUnchanged } from '#shared/table/entity.ts'
import type { Table } from '#shared/table/table.ts'
import { type Birth, BirthEntity, UpgradeEntity, type UpgradeRecord } from './entity.ts'

/** Number of the newest upgrade in `ops/upgrade/upgrades.ts`, which functions don't carry. 0 if there is none. */
export const NEWEST_UPGRADE = 0

const numberOf = (id: string): number => Number(id.slice(0, 4))

/** Returns true if a table has had an upgrade, or was created by code that had it. */
export const isDoneBy = (id: string, record: UpgradeRecord | undefined, birth: Birth | undefined): boolean =>
  record?.state === 'done' || (birth !== undefined && numberOf(id) <= birth.newest)

/** Births that are known. */
const births = new WeakMap<Pick<Table, 'get'>, Birth>()

/**
 * Records the birth of a table, unless it has one. The sweeper's first round and the first question for an upgrade do, so a
 * table has one long before the next release, and a new one never needs `npm run upgrade`.
 */
export const recordBirth = async (
  table: Pick<Table, 'get' | 'transact'>,
  newest: number = NEWEST_UPGRADE,
): Promise<Birth> => {
  const known = births.get(table) ?? (await table.get(BirthEntity, {}))
  if (known) {
    births.set(table, known)
    return known
  }
  await ifUnchanged(table.transact([BirthEntity.create({ newest })]))
  // Of two that record it at once, the first counts.
  return recordBirth(table, newest)
}

/** Upgrades that are known to be done. */
const done = new WeakMap<Pick<Table, 'get'>, Set<string>>()

/**
 * Returns true once an upgrade is done. No function of an earlier release runs from then on, so records may take a shape that it
 * doesn't understand (docs/upgrades.md). A function's instance remembers it, because no upgrade is undone.
 */
export const isUpgradeDone = async (
  table: Pick<Table, 'get' | 'transact'>,
  id: string,
  newest?: number,
): Promise<boolean> => {
  const known = done.get(table) ?? new Set<string>()
  done.set(table, known)
  if (known.has(id)) return true
  const [record, birth] = await Promise.all([table.get(UpgradeEntity, { id }), recordBirth(table, newest)])
  if (isDoneBy(id, record, birth)) known.add(id)
  return known.has(id)
}
