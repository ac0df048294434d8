import { type App, AppEntity, DeveloperAppEntity } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

type Reading = Pick<Deps, 'table'>

/**
 * A developer's app.
 * @throws `not_found` also for somebody else's: whose app it is cannot be told from the answer
 */
export const ownApp = async ({ table }: Reading, developerId: string, appId: string): Promise<App> => {
  const [own, app] = await table.getAll([
    { entity: DeveloperAppEntity, key: DeveloperAppEntity.key({ developer_id: developerId, app_id: appId }) },
    { entity: AppEntity, key: AppEntity.key({ id: appId }) },
  ])
  if (!own || !app) throw fail('not_found', { message: 'You have no such app.' })
  return app
}

/** A developer's apps, newest first. */
export const listApps = async (
  { table }: Reading,
  developerId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<App>> => {
  const page = await table.query(DeveloperAppEntity, { developer_id: developerId }, options)
  const apps = (await table.getAll(
    page.items.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) })),
  )) as (App | undefined)[]
  return { items: apps.filter((app) => app !== undefined), next: page.next }
}
