import { DeveloperAppEntity, type ListedApp, ListedAppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { presentListedApps } from './present-listed.ts'
import type { PublisherView } from './schemas.ts'

/**
 * Loads a developer as the marketplace shows them: name, badge and listed apps, newest first.
 * @throws `not_found` also for a developer without listed apps, who isn't public
 */
export const loadPublisher = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  id: string,
): Promise<PublisherView> => {
  const [developer, { items }] = await Promise.all([
    deps.table.get(DeveloperEntity, { id }),
    deps.table.query(DeveloperAppEntity, { developer_id: id }, { limit: LIMITS.appsPerDeveloper }),
  ])
  if (developer?.status !== 'active') throw noPublisher()
  const found = await deps.table.getAll(items.map(({ app_id }) => ListedAppEntity.ref({ app_id })))
  const listed = found.filter((one): one is ListedApp => one !== undefined)
  const { items: apps } = await presentListedApps(deps, workspaceId, { items: listed, next: undefined })
  if (apps.length === 0) throw noPublisher()
  return { id, name: developer.company ?? developer.name, verified: developer.verified, apps }
}

const noPublisher = (): PlatformError => fail('not_found', { message: 'No publisher in the marketplace has this ID.' })
