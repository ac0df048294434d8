import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type App, AppEntity, DeveloperAppEntity } from './entity.ts'

type Reading = Pick<Deps, 'table'>

/**
 * Loads a developer's app.
 * @throws `not_found`, also for another developer's app, so that the response doesn't reveal whether it exists
 */
export const loadOwnApp = async ({ table }: Reading, developerId: string, appId: string): Promise<App> => {
  const [own, app] = await table.getAll([
    DeveloperAppEntity.ref({ developer_id: developerId, app_id: appId }),
    AppEntity.ref({ id: appId }),
  ])
  if (!own || !app) throw fail('not_found', { message: 'You have no app with this id.' })
  return app
}

/** Lists a developer's apps, newest first. */
export const listApps = async (
  { table }: Reading,
  developerId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<App>> => {
  const page = await table.query(DeveloperAppEntity, { developer_id: developerId }, options)
  const apps = (await table.getAll(page.items.map(({ app_id }) => AppEntity.ref({ id: app_id })))) as (
    | App
    | undefined
  )[]
  return { items: apps.filter((app) => app !== undefined), next: page.next }
}
