import { AppEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { DAY } from '../../kernel/clock.ts'
import { type IdKind, idFloor } from '../../kernel/ids.ts'
import type { AnyEntity, Entity, ItemOf } from '../../table/entity.ts'
import { inDirectory } from '../../table/lists.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

/** From when, and before when, the records were made; epoch ms. */
export interface Range {
  since: number
  until: number
}

type Reading = Pick<Deps, 'table'>

/** Records of one page. */
const PAGE = 100

/** Ids sort by the time they were made: the bounds of a range of them. */
const bounds = (kind: IdKind, { since, until }: Range) => ({ from: idFloor(kind, since), to: idFloor(kind, until) })

async function* pagesOf<T>(read: (options: QueryOptions) => Promise<Page<T>>, options: object): AsyncGenerator<T[]> {
  let after: string | undefined
  do {
    const page = await read({ limit: PAGE, ascending: true, after, ...options })
    yield page.items
    after = page.next
  } while (after !== undefined)
}

/** All records of a cross-tenant list, oldest first. */
export const wholeDirectory = <T extends object, P extends string, S extends string>(
  { table }: Reading,
  entity: Entity<T, P, S>,
  list: string,
  kind: IdKind,
  range: Range,
): AsyncGenerator<T[]> =>
  pagesOf((options) => inDirectory(table, entity, list, undefined, options), bounds(kind, range))

/**
 * All records of a cross-tenant list that is kept by day, or by other stretches of time, oldest first.
 * @param keptDays after which its records vanish
 */
export async function* byDay<E extends AnyEntity>(
  { table }: Reading,
  entity: E,
  kind: IdKind,
  keptDays: number,
  { since, until }: Range,
): AsyncGenerator<ItemOf<E>[]> {
  const begin = Math.max(since, until - keptDays * DAY)
  const sources: AsyncGenerator<ItemOf<E>[]>[] = []
  let last: number | undefined
  for (let day = begin - (begin % DAY); day < until; day += DAY) {
    const place = entity.directory?.({ id: kind, created_at: day })
    if (place?.day === undefined || place.day === last) continue
    last = place.day
    const read = (options: QueryOptions) =>
      inDirectory(table, entity, place.list, place.day, options) as Promise<Page<ItemOf<E>>>
    sources.push(pagesOf(read, bounds(kind, { since: begin, until })))
  }
  yield* inTurn(sources)
}

/** Sources whose first pages are read at the same time: most have one, or nothing. */
const AT_ONCE = 10

/** Everything of one source after the other. */
async function* inTurn<T>(sources: readonly AsyncGenerator<T[]>[]): AsyncGenerator<T[]> {
  for (let i = 0; i < sources.length; i += AT_ONCE) {
    const some = sources.slice(i, i + AT_ONCE)
    const first = await Promise.all(some.map((source) => source.next()))
    for (const [n, source] of some.entries()) {
      if (!first[n]?.done) yield first[n]?.value ?? []
      yield* source
    }
  }
}

/** All installations, app by app; an app’s oldest first. They are in no list of all, but in their app’s. */
export async function* installationsByApp({ table }: Reading, range: Range): AsyncGenerator<Installation[]> {
  const everyApp = wholeDirectory({ table }, AppEntity, 'apps', 'app', { since: 0, until: range.until })
  for await (const apps of everyApp) {
    const sources = apps.map(({ id }) => {
      const owner = `APP#${id}#INSTALLATIONS`
      return pagesOf((options) => table.listed(InstallationEntity, owner, options), bounds('installation', range))
    })
    yield* inTurn(sources)
  }
}
