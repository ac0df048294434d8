import type { Deps } from '#shared/domain/deps.ts'
import type { AnyEntity, ItemOf, Write } from '#shared/table/entity.ts'
import { listOnShelves } from './0001-marketplace-shelves.ts'

/** What an upgrade may use. */
export type UpgradeWork = Pick<Deps, 'table' | 'clock'>

/**
 * One change of the shape of what is stored. The code that is deployed with it reads both shapes; a later release, after the
 * upgrade has run everywhere, may forget the old one (docs/upgrades.md).
 */
export interface Upgrade<E extends AnyEntity = AnyEntity> {
  /** A number and a name; upgrades run in this order. Never changed. */
  id: string
  /** What it does, for the operator. */
  title: string
  /** The records that it looks at. */
  entity: E
  /**
   * What brings one record into its new shape; nothing when it has it already. The writes carry conditions: a record that was
   * changed meanwhile is read and asked about again. It may run twice.
   */
  writes(item: ItemOf<E>, work: UpgradeWork): Promise<Write[]>
}

/** Every upgrade, oldest first. */
export const UPGRADES: readonly Upgrade[] = [listOnShelves]
