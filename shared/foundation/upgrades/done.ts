import type { Table } from '#shared/table/table.ts'
import { UpgradeEntity } from './entity.ts'

/**
 * The upgrade after which records may be written in shapes that cost fewer writes. The version before doesn't read them.
 */
export const LEAN_RECORDS = '0010-lean-records'

/**
 * The upgrade after which steps of one call share an item, steps may be written before their run counts them, and runs are created
 * and ended by plain writes.
 */
export const PLAIN_WRITES = '0011-plain-writes'

/** The upgrade after which the start of a run is counted with its end. */
export const COUNTED_AT_END = '0012-counted-at-end'

/** Times at which the upgrades that are done were finished. */
const done = new WeakMap<Pick<Table, 'get'>, Map<string, number>>()

/**
 * Returns true once an upgrade is done. No function of the version before runs from then on, so records may take a shape
 * that it doesn't understand (docs/upgrades.md). A function's instance remembers it, because no upgrade is undone.
 */
export const isUpgradeDone = async (table: Pick<Table, 'get'>, id: string): Promise<boolean> =>
  (await timeOfUpgrade(table, id)) !== undefined

/** Returns the time at which an upgrade was finished. Undefined until then. */
export const timeOfUpgrade = async (table: Pick<Table, 'get'>, id: string): Promise<number | undefined> => {
  const known = done.get(table) ?? new Map<string, number>()
  done.set(table, known)
  if (known.has(id)) return known.get(id)
  const record = await table.get(UpgradeEntity, { id })
  if (record?.state === 'done') known.set(id, record.finished_at ?? 0)
  return known.get(id)
}
