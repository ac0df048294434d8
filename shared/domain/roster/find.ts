import { RosterEntity, type RosterKind, RosterNameEntity } from '../../entities/roster.ts'
import type { AnyEntity, ItemOf } from '../../table/entity.ts'
import { skipTo } from '../../table/lists.ts'
import type { Deps } from '../deps.ts'
import { totalOf } from '../totals.ts'
import { folded } from './places.ts'

/** Matches of a name that are looked at. */
export const NAMES_LOOKED_AT = 1_000

interface Search {
  kind: RosterKind
  /** The lists that fit the filters. */
  lists: readonly string[]
  /** How a name begins. */
  q?: string | undefined
  limit: number
  offset: number
}

interface Found<T> {
  items: T[]
  total: number
}

/**
 * A page of developers or workspaces: of those in the lists, newest first; with `q` of those whose name begins so, in the order
 * of the alphabet, among the first 1,000 such names. It reads what it skips as keys only.
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
    totalOf(deps, lists),
    skipTo(deps.table, RosterEntity, sources, { offset, limit }),
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
