import { readTotal } from '#shared/foundation/totals/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { AnyEntity, ItemOf } from '#shared/table/entity.ts'
import { pageAtOffset } from '#shared/table/lists.ts'
import { RosterEntity, type RosterKind, RosterNameEntity } from './entity.ts'
import { folded } from './places.ts'

/** Most matches of a name that are read. */
export const NAMES_LOOKED_AT = 1_000

interface Search {
  kind: RosterKind
  /** Lists that match the filters. */
  lists: readonly string[]
  /** Prefix of a name. */
  q?: string | undefined
  limit: number
  offset: number
}

interface Found<T> {
  items: T[]
  total: number
}

/**
 * Finds a page of developers or workspaces in the given lists, newest first. With `q`, finds those whose name starts
 * with it in alphabetical order, among the first 1,000 such names. Reads skipped records as keys only.
 */
export const findInRoster = async <E extends AnyEntity>(
  deps: Pick<Deps, 'table'>,
  entity: E,
  search: Search,
): Promise<Found<ItemOf<E>>> => {
  const { lists, q, limit, offset } = search
  if (q !== undefined) return findByName(deps, entity, { ...search, q })
  const sources = lists.map((directory) => ({ directory }))
  const [total, entries] = await Promise.all([
    readTotal(deps, lists),
    pageAtOffset(deps.table, RosterEntity, sources, { offset, limit }),
  ])
  return {
    items: await load(
      deps,
      entity,
      entries.map(({ id }) => id),
    ),
    total,
  }
}

const findByName = async <E extends AnyEntity>(
  deps: Pick<Deps, 'table'>,
  entity: E,
  { kind, lists, q, limit, offset }: Search & { q: string },
): Promise<Found<ItemOf<E>>> => {
  const from = `${RosterNameEntity.prefix}${folded(q)}`
  const page = await deps.table.query(
    RosterNameEntity,
    { kind },
    { limit: NAMES_LOOKED_AT, ascending: true, from, to: `${from}\u{10FFFF}` },
  )
  const ids = [...new Set(page.items.filter(({ list }) => lists.includes(list)).map(({ id }) => id))]
  return { items: await load(deps, entity, ids.slice(offset, offset + limit)), total: ids.length }
}

const load = async <E extends AnyEntity>(
  { table }: Pick<Deps, 'table'>,
  entity: E,
  ids: readonly string[],
): Promise<ItemOf<E>[]> => {
  const found = await table.getAll(ids.map((id) => ({ entity, key: entity.key({ id }) })))
  return found.filter((item) => item !== undefined) as ItemOf<E>[]
}
