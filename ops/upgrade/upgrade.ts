import type { Work } from '#shared/foundation/work/index.ts'
import type { AnyEntity, ItemOf, Write } from '#shared/table/entity.ts'

/** Dependencies of an upgrade. Its changes on the platform's behalf are audited like any others. */
export type UpgradeWork = Pick<Work, 'table' | 'clock' | 'id' | 'requestId' | 'sourceIp'>

/**
 * Change of the shape of stored records. The code deployed with it reads both shapes. A later release, after the upgrade has run
 * everywhere, may drop the old shape (docs/upgrades.md).
 */
export interface Upgrade<E extends AnyEntity = AnyEntity> {
  /** Number and name. Upgrades run in this order. Never changes. */
  id: string
  /** Description for the operator. */
  title: string
  /** Kind of records to upgrade. */
  entity: E
  /**
   * Returns the writes that bring a record into its new shape, or none if it already has it. The writes have conditions: a record that
   * changed in the meantime is read again. May run twice for a record.
   */
  writes(item: ItemOf<E>, work: UpgradeWork): Promise<Write[]>
}

/**
 * Upgrade without records: it lets functions write shapes that the version before doesn't read. They ask for it with
 * `isUpgradeDone`.
 */
export type Release = Pick<Upgrade, 'id' | 'title'> & { entity?: undefined }
