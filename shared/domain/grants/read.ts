import { type App, AppEntity } from '../../entities/apps.ts'
import {
  type Grant,
  GrantEntity,
  grantsOf,
  type Installation,
  InstallationEntity,
} from '../../entities/installations.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

export interface GrantOf {
  grant: Grant
  installation: Installation
  app: App
}

/**
 * A workspace's live grants, newest first. One that ends leaves the list; the index may show it a moment longer, and an
 * uninstalled app's grants are as dead as the installation, so a page may hold fewer than its limit.
 */
export const listGrants = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after' | 'from' | 'to'>,
): Promise<Page<GrantOf>> => {
  const { items, next } = await table.listed(GrantEntity, grantsOf(workspaceId), options)
  const [installations, apps] = await Promise.all([
    table.getAll(
      items.map(({ workspace_id, installation_id: id }) => ({
        entity: InstallationEntity,
        key: InstallationEntity.key({ workspace_id, id }),
      })),
    ),
    table.getAll(items.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) }))),
  ])
  const live = items.flatMap((grant, i) => {
    const [installation, app] = [installations[i], apps[i]]
    const ended = grant.status !== 'active' || !installation || installation.status === 'revoked' || !app
    return ended ? [] : [{ grant, installation, app }]
  })
  return { items: live, next }
}

/** A live grant by its id alone, found where it is listed: its key needs the installation. */
export const liveGrantById = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  id: string,
): Promise<Grant | undefined> => {
  const { items } = await listGrants(deps, workspaceId, { limit: 1, from: id, to: id })
  return items[0]?.grant
}
