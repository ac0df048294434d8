import type { UpgradeRecord } from '#shared/foundation/upgrades/index.ts'
import { BirthEntity, isDoneBy, UpgradeEntity } from '#shared/foundation/upgrades/index.ts'
import type { ItemOf, Key } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { Release, Upgrade, UpgradeWork } from './upgrade.ts'
import { type Walk, walk } from './walk.ts'

export interface UpgradeOptions {
  work: UpgradeWork
  walk: Walk
  /** Parts of the table to walk in parallel. An upgrade that was started continues with its number of parts. */
  segments: number
  /** Only counts records that would change. */
  dryRun: boolean
  say: (line: string) => void
}

/** Lists pending upgrades. A table needs none that its code had when it was new. */
export const pendingUpgrades = async <U extends Upgrade | Release>(
  work: UpgradeWork,
  upgrades: readonly U[],
): Promise<U[]> => {
  const birth = await work.table.get(BirthEntity, {})
  const records = await Promise.all(upgrades.map(({ id }) => work.table.get(UpgradeEntity, { id })))
  return upgrades.filter(({ id }, n) => !isDoneBy(id, records[n], birth))
}

/**
 * Runs pending upgrades, one after the other. It can be stopped and started again, even twice in parallel: each segment's progress is
 * stored after every page, and each write is conditional.
 *
 * @returns the upgrades that ran, with the number of records seen and changed
 * @throws {Error} if a record couldn't be changed; progress so far is kept
 */
export const runUpgrades = async (
  upgrades: readonly (Upgrade | Release)[],
  options: UpgradeOptions,
): Promise<UpgradeRecord[]> => {
  const done: UpgradeRecord[] = []
  for (const upgrade of await pendingUpgrades(options.work, upgrades)) done.push(await runOne(upgrade, options))
  return done
}

const runOne = async (upgrade: Upgrade | Release, options: UpgradeOptions): Promise<UpgradeRecord> => {
  const { work, dryRun, say } = options
  const before = dryRun ? undefined : await work.table.get(UpgradeEntity, { id: upgrade.id })
  const record: UpgradeRecord = before ?? {
    id: upgrade.id,
    state: 'running',
    segments: upgrade.entity ? Array.from({ length: options.segments }, () => ({})) : [],
    seen: 0,
    changed: 0,
    started_at: work.clock.now(),
  }
  say(`${upgrade.id}: ${upgrade.title}${before ? ' (continues)' : ''}`)
  const keep = async () => {
    if (!dryRun) await work.table.transact([UpgradeEntity.replace(record)])
  }
  await keep()
  if (upgrade.entity) {
    await Promise.all(record.segments.map((_, segment) => runSegment(upgrade, { record, segment, keep, options })))
  }
  Object.assign(record, { state: 'done', finished_at: work.clock.now() })
  await keep()
  say(`${upgrade.id}: ${record.changed} of ${record.seen} records ${dryRun ? 'would be changed' : 'changed'}`)
  return record
}

interface Running {
  record: UpgradeRecord
  segment: number
  keep(): Promise<void>
  options: UpgradeOptions
}

const runSegment = async (upgrade: Upgrade, { record, segment, keep, options }: Running): Promise<void> => {
  const at = record.segments[segment]
  if (at === undefined || at.done) return
  const place = { entity: upgrade.entity, segment, segments: record.segments.length, after: at.after }
  for await (const { found, next } of walk(options.walk, place)) {
    for (const { key, item } of found) {
      record.seen += 1
      if (await upgradeRecord(upgrade, { key, item, options })) record.changed += 1
    }
    record.segments[segment] = next ? { after: next } : { done: true }
    await keep()
  }
}

/** Upgrades one record. @returns true if it changed, or would change */
const upgradeRecord = async (
  upgrade: Upgrade,
  { key, item, options: { work, dryRun } }: { key: Key; item: ItemOf<typeof upgrade.entity>; options: UpgradeOptions },
): Promise<boolean> => {
  let read: typeof item | undefined = item
  return retryOnConflict(async () => {
    const current = read ?? (await work.table.getByKey(upgrade.entity, key))
    read = undefined
    const writes = current === undefined ? [] : await upgrade.writes(current, work)
    if (writes.length === 0 || dryRun) return writes.length > 0
    await work.table.transact(writes)
    return true
  })
}
