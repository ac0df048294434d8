import type { UpgradeRecord } from '#shared/entities/upgrades.ts'
import { UpgradeEntity } from '#shared/entities/upgrades.ts'
import { ConditionFailed, type ItemOf, type Key } from '#shared/table/entity.ts'
import type { Upgrade, UpgradeWork } from './upgrades.ts'
import { type Walk, walk } from './walk.ts'

export interface UpgradeOptions {
  work: UpgradeWork
  walk: Walk
  /** Parts of the table that are walked at the same time; what was begun goes on with as many as it had. */
  segments: number
  /** Only counts what would change. */
  dryRun: boolean
  say: (line: string) => void
}

/** How often a record is read again that others change meanwhile, before the upgrade gives up. */
const TRIES = 10

/** The upgrades that are not done. */
export const pendingUpgrades = async (work: UpgradeWork, upgrades: readonly Upgrade[]): Promise<Upgrade[]> => {
  const records = await Promise.all(upgrades.map(({ id }) => work.table.get(UpgradeEntity, { id })))
  return upgrades.filter((_, n) => records[n]?.state !== 'done')
}

/**
 * Runs what is not done, one after the other. It may be stopped and started again, also twice at once: how far each segment is
 * is kept after every page, and each write is conditional.
 *
 * @returns what was done now: of each, how many records it has seen and changed
 * @throws {Error} if a record could not be changed; what is done so far stays
 */
export const runUpgrades = async (upgrades: readonly Upgrade[], options: UpgradeOptions): Promise<UpgradeRecord[]> => {
  const done: UpgradeRecord[] = []
  for (const upgrade of upgrades) done.push(...(await runOne(upgrade, options)))
  return done
}

/** @returns nothing when it was done before */
const runOne = async (upgrade: Upgrade, options: UpgradeOptions): Promise<UpgradeRecord[]> => {
  const { work, dryRun, say } = options
  const known = await work.table.get(UpgradeEntity, { id: upgrade.id })
  if (known?.state === 'done') return []
  const before = dryRun ? undefined : known
  const record: UpgradeRecord = before ?? {
    id: upgrade.id,
    state: 'running',
    segments: Array.from({ length: options.segments }, () => ({})),
    seen: 0,
    changed: 0,
    started_at: work.clock.now(),
  }
  say(`${upgrade.id}: ${upgrade.title}${before ? ' (goes on)' : ''}`)
  const keep = async () => {
    if (!dryRun) await work.table.transact([UpgradeEntity.replace(record)])
  }
  await keep()
  await Promise.all(record.segments.map((_, segment) => runSegment(upgrade, { record, segment, keep, options })))
  Object.assign(record, { state: 'done', finished_at: work.clock.now() })
  await keep()
  say(`${upgrade.id}: ${record.changed} of ${record.seen} records ${dryRun ? 'would be changed' : 'changed'}`)
  return [record]
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

/** @returns whether it was changed, or would be */
const upgradeRecord = async (
  upgrade: Upgrade,
  { key, item, options: { work, dryRun } }: { key: Key; item: ItemOf<typeof upgrade.entity>; options: UpgradeOptions },
): Promise<boolean> => {
  let current = item
  for (let tries = 1; ; tries++) {
    const writes = await upgrade.writes(current, work)
    if (writes.length === 0 || dryRun) return writes.length > 0
    try {
      await work.table.transact(writes)
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed) || tries >= TRIES) throw error
      current = await work.table.getByKey(upgrade.entity, key)
      if (current === undefined) return false
    }
  }
}
