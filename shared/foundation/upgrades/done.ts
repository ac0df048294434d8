import type { Table } from '#shared/table/table.ts'
import { UpgradeEntity } from './entity.ts'

/** Upgrades that are known to be done. */
const done = new WeakMap<Pick<Table, 'get'>, Set<string>>()

/**
 * Returns true once an upgrade is done. No function of an earlier release runs from then on, so records may take a shape that it
 * doesn't understand (docs/upgrades.md). A function's instance remembers it, because no upgrade is undone.
 */
export const isUpgradeDone = async (table: Pick<Table, 'get'>, id: string): Promise<boolean> => {
  const known = done.get(table) ?? new Set<string>()
  done.set(table, known)
  if (known.has(id)) return true
  const record = await table.get(UpgradeEntity, { id })
  if (record?.state === 'done') known.add(id)
  return known.has(id)
}
