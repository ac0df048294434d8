import { APPS_BY_SLUG, type App, AppEntity, DeveloperAppEntity } from '../../entities/apps.ts'
import { AppStandingEntity } from '../../entities/moderation.ts'
import { isId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { skipTo } from '../../table/lists.ts'
import type { Deps } from '../deps.ts'
import { totalOf } from '../totals.ts'
import { presentModerated } from './decide.ts'
import type { ModeratedAppView } from './schemas.ts'
import { standingLists } from './standing.ts'

interface Search {
  status?: App['status'] | undefined
  type?: App['type'] | undefined
  developer?: string | undefined
  q?: string | undefined
  limit: number
  offset: number
}

/** Slugs of one beginning that are looked at. */
const SLUGS_LOOKED_AT = 200

/**
 * `GET /admin/apps`. By status and type they are in lists of their own, which are counted; a developer has few enough, and of
 * those whose slug begins with `q` few enough are looked at, to be read whole.
 */
export const listAllApps = async (
  deps: Pick<Deps, 'table'>,
  search: Search,
): Promise<{ items: ModeratedAppView[]; total: number }> => {
  const { limit, offset } = search
  const narrowed = await narrowedBy(deps, search)
  if (narrowed) {
    const fitting = narrowed.filter((app) => fits(app, search))
    return {
      items: fitting.slice(offset, offset + limit).map(presentModerated),
      total: fitting.length,
    }
  }
  const { status, type } = search
  const lists = standingLists(status, type)
  const [total, apps] = await Promise.all([
    totalOf(deps, lists),
    status === undefined && type === undefined
      ? skipTo(deps.table, AppEntity, [{ directory: 'apps' }], { limit, offset })
      : skipTo(
          deps.table,
          AppStandingEntity,
          lists.map((directory) => ({ directory })),
          { limit, offset },
        ).then((places) =>
          load(
            deps,
            places.map(({ app_id }) => app_id),
          ),
        ),
  ])
  return { items: apps.map(presentModerated), total }
}

/** The few apps among which to look; undefined where the filters leave many. */
const narrowedBy = async (deps: Pick<Deps, 'table'>, { developer, q }: Search): Promise<App[] | undefined> => {
  const { table } = deps
  if (developer !== undefined) {
    const own = await table.query(DeveloperAppEntity, { developer_id: developer }, { limit: LIMITS.appsPerDeveloper })
    return load(
      deps,
      own.items.map(({ app_id }) => app_id),
    )
  }
  if (q === undefined) return undefined
  if (isId('app', q)) return load(deps, [q])
  const { items } = await table.listed(AppEntity, APPS_BY_SLUG, {
    limit: SLUGS_LOOKED_AT,
    ascending: true,
    from: q,
    to: `${q}\u{10FFFF}`,
  })
  return items
}

const load = async ({ table }: Pick<Deps, 'table'>, ids: readonly string[]): Promise<App[]> => {
  const found = await table.getAll(ids.map((id) => ({ entity: AppEntity, key: AppEntity.key({ id }) })))
  return (found as (App | undefined)[]).filter((app) => app !== undefined)
}

const fits = (app: App, { status, type, q }: Search): boolean =>
  (status === undefined || app.status === status) &&
  (type === undefined || app.type === type) &&
  (q === undefined || app.id === q || app.slug.startsWith(q))
