import {
  APPS_BY_SLUG,
  type App,
  AppEntity,
  AppStandingEntity,
  DeveloperAppEntity,
  standingLists,
} from '#shared/catalogue/apps/index.ts'
import { readTotal } from '#shared/foundation/totals/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { pageAtOffset } from '#shared/table/lists.ts'
import { presentModeratedApp } from './decide.ts'
import type { ModeratedAppView } from './schemas.ts'

interface Search {
  status?: App['status'] | undefined
  type?: App['type'] | undefined
  developer?: string | undefined
  q?: string | undefined
  limit: number
  offset: number
}

/** Maximum number of slugs examined for one prefix. */
const SLUGS_LOOKED_AT = 200

/**
 * Handles `GET /admin/apps`. Status and type have their own lists, with totals. The `developer` and `q` filters leave
 * few enough apps to read them all: a developer has at most 20, and `q` examines a limited number of slugs.
 */
export const listAllApps = async (
  deps: Pick<Deps, 'table'>,
  search: Search,
): Promise<{ items: ModeratedAppView[]; total: number }> => {
  const { limit, offset } = search
  const narrowed = await findCandidates(deps, search)
  if (narrowed) {
    const fitting = narrowed.filter((app) => fits(app, search))
    return {
      items: fitting.slice(offset, offset + limit).map(presentModeratedApp),
      total: fitting.length,
    }
  }
  const { status, type } = search
  const lists = standingLists(status, type)
  const [total, apps] = await Promise.all([
    readTotal(deps, lists),
    status === undefined && type === undefined
      ? pageAtOffset(deps.table, AppEntity, [{ directory: 'apps' }], { limit, offset })
      : pageAtOffset(
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
  return { items: apps.map(presentModeratedApp), total }
}

/** Returns the few apps to search, or undefined if the filters leave too many. */
const findCandidates = async (deps: Pick<Deps, 'table'>, { developer, q }: Search): Promise<App[] | undefined> => {
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
  const found = await table.getAll(ids.map((id) => AppEntity.ref({ id })))
  return (found as (App | undefined)[]).filter((app) => app !== undefined)
}

const fits = (app: App, { status, type, q }: Search): boolean =>
  (status === undefined || app.status === status) &&
  (type === undefined || app.type === type) &&
  (q === undefined || app.id === q || app.slug.startsWith(q))
