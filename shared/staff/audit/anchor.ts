import * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { listDirectory } from '#shared/table/lists.ts'
import { allItems } from '#shared/table/pages.ts'
import type { Table } from '#shared/table/table.ts'
import { type AuditDay, AuditDayEntity, AuditEntity, type AuditEntry, stateOf, UnanchoredEntity } from './entity.ts'

/** Part of a day's chain as the bucket holds it, for good where the bucket has object lock. */
export const Anchor = () =>
  z.object({
    scope: z.string(),
    day: z.string(),
    /** Number of the object, from 1. */
    number: z.number(),
    /** Hash before the first of these entries. */
    previous: z.string(),
    /** Hash of the last of these entries. */
    head: z.string(),
    entries: z.array(z.object({ seq: z.number(), id: z.string(), hash: z.string() })),
  })

export type Anchor = z.infer<ReturnType<typeof Anchor>>

/** Prefix of anchors in the bucket. */
export const ANCHOR_PREFIX = 'audit'

const anchorKey = ({ scope, day }: Pick<AuditDay, 'scope' | 'day'>, number: number): string =>
  `${ANCHOR_PREFIX}/${scope}/${day}/${String(number).padStart(5, '0')}.json`

/** Loads the anchor with this number. Returns undefined if there is none. */
export const loadAnchor = async (
  objects: Pick<ObjectStore, 'get'>,
  of: Pick<AuditDay, 'scope' | 'day'>,
  number: number,
): Promise<Anchor | undefined> => {
  const bytes = await objects.get(anchorKey(of, number))
  return bytes && Anchor().parse(JSON.parse(new TextDecoder().decode(bytes)))
}

/** Loads entries of a scope between two sort keys. */
export const loadRange = (table: Table, scope: string, bounds: { from: string; to: string }): Promise<AuditEntry[]> =>
  allItems((after) => table.query(AuditEntity, { scope }, { limit: 500, ascending: true, after, ...bounds }))

/** Loads the entries of a day's chain in order. */
const loadDay = async (table: Table, { scope, day, first_id, last_id }: AuditDay): Promise<AuditEntry[]> => {
  const bounds = { from: AuditEntity.prefix + first_id, to: AuditEntity.prefix + last_id }
  const all = await loadRange(table, scope, bounds)
  return all.filter(({ chain }) => chain.day === day).sort((a, b) => a.chain.seq - b.chain.seq)
}

/** Writes what the chains gained since the last round into the bucket. An object is never replaced. */
export const anchorDays = async (work: Pick<Work, 'table' | 'objects' | 'clock' | 'log'>): Promise<void> => {
  const { items } = await listDirectory(work.table, UnanchoredEntity, 'audit-unanchored', undefined, {
    limit: 1_000,
    ascending: true,
  })
  for (const { scope, day } of items) await anchorDay(work, { scope, day })
}

const anchorDay = async (
  { table, objects, log }: Pick<Work, 'table' | 'objects' | 'log'>,
  key: Pick<AuditDay, 'scope' | 'day'>,
): Promise<void> => {
  const day = await table.get(AuditDayEntity, key)
  if (!day) return
  const number = day.anchors + 1
  // An earlier round may have died after it wrote the object.
  const anchor = (await loadAnchor(objects, day, number)) ?? (await writeAnchor({ table, objects }, day, number))
  const anchored = anchor?.entries.at(-1)?.seq ?? day.anchored
  if (anchored > day.count) {
    // A table restored from a backup. Later entries of this day can't be anchored under the same numbers.
    log.error('the bucket holds audit entries that the table lost', { ...key, anchored, count: day.count })
    return table.transact([UnanchoredEntity.delete(key)])
  }
  if (anchor) {
    const moved = { anchored, anchors: number }
    const isOurs = await ifUnchanged(
      table.transact([AuditDayEntity.replace({ ...day, ...moved }, { where: stateOf(day) })]),
    )
    if (!isOurs) return
  }
  await ifUnchanged(
    table.transact([AuditDayEntity.check(key, { where: { count: anchored } }), UnanchoredEntity.delete(key)]),
  )
}

const writeAnchor = async (
  { table, objects }: Pick<Work, 'table' | 'objects'>,
  day: AuditDay,
  number: number,
): Promise<Anchor | undefined> => {
  const links = (await loadDay(table, day)).flatMap(({ id, chain }) =>
    chain.seq > day.anchored && chain.seq <= day.count ? [{ id, ...chain }] : [],
  )
  const [first] = links
  if (!first) return undefined
  const anchor: Anchor = {
    scope: day.scope,
    day: day.day,
    number,
    previous: first.previous,
    head: links.at(-1)?.hash ?? '',
    entries: links.map(({ seq, id, hash }) => ({ seq, id, hash })),
  }
  const isNew = await objects.create(anchorKey(day, number), Buffer.from(JSON.stringify(anchor)), 'application/json')
  return isNew ? anchor : undefined
}
