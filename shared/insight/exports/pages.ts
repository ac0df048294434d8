import { type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { type IdKind, idFloor } from '#shared/kernel/ids.ts'
import type { AnyEntity, Entity, ItemOf } from '#shared/table/entity.ts'
import { listDirectory } from '#shared/table/lists.ts'
import { eachPage } from '#shared/table/pages.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'

/** Range of creation times, in epoch ms. */
export interface Range {
  since: number
  until: number
}

type Reading = Pick<Deps, 'table'>

/** Records per page. */
const PAGE = 100

/** Converts the range to id bounds, since ids sort by creation time. */
const bounds = (kind: IdKind, { since, until }: Range) => ({ from: idFloor(kind, since), to: idFloor(kind, until) })

const pagesOf = <T>(read: (options: QueryOptions) => Promise<Page<T>>, options: object): AsyncGenerator<T[]> =>
  eachPage((after) => read({ limit: PAGE, ascending: true, after, ...options }))

/** Reads all records of a cross-tenant list, oldest first. */
export const readDirectory = <T extends object, P extends string, S extends string>(
  { table }: Reading,
  entity: Entity<T, P, S>,
  list: string,
  kind: IdKind,
  range: Range,
): AsyncGenerator<T[]> =>
  pagesOf((options) => listDirectory(table, entity, list, undefined, options), bounds(kind, range))

/**
 * Reads all records of a cross-tenant list that is partitioned by day or another period, oldest first.
 * @param keptDays days until its records expire
 */
export async function* readDirectoryByDay<E extends AnyEntity>(
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
      listDirectory(table, entity, place.list, place.day, options) as Promise<Page<ItemOf<E>>>
    sources.push(pagesOf(read, bounds(kind, { since: begin, until })))
  }
  yield* inTurn(sources)
}

/** Number of sources whose first pages are read concurrently. Most have one page or none. */
const AT_ONCE = 10

/** Yields all pages of one source after another. */
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

/** Reads all installations, app by app, oldest first per app. Installations are listed only per app. */
export async function* readInstallationsByApp({ table }: Reading, range: Range): AsyncGenerator<Installation[]> {
  const everyApp = readDirectory({ table }, AppEntity, 'apps', 'app', { since: 0, until: range.until })
  for await (const apps of everyApp) {
    const sources = apps.map(({ id }) => {
      const owner = `APP#${id}#INSTALLATIONS`
      return pagesOf((options) => table.listed(InstallationEntity, owner, options), bounds('installation', range))
    })
    yield* inTurn(sources)
  }
}
