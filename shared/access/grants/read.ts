import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Installation, InstallationEntity } from '../installations/entity.ts'
import { type Grant, GrantEntity, grantsOf } from './entity.ts'

export interface ListedGrant {
  grant: Grant
  installation: Installation
  app: App
}

/**
 * Lists a workspace's live grants, newest first. The index may show an ended grant for a moment, and grants of an
 * uninstalled app have ended too. A page may therefore hold fewer grants than its limit.
 */
export const listGrants = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after' | 'from' | 'to'>,
): Promise<Page<ListedGrant>> => {
  const { items, next } = await table.listed(GrantEntity, grantsOf(workspaceId), options)
  const [installations, apps] = await Promise.all([
    table.getAll(items.map(({ workspace_id, installation_id: id }) => InstallationEntity.ref({ workspace_id, id }))),
    table.getAll(items.map(({ app_id }) => AppEntity.ref({ id: app_id }))),
  ])
  const live = items.flatMap((grant, i) => {
    const [installation, app] = [installations[i], apps[i]]
    const ended = grant.status !== 'active' || !installation || installation.status === 'revoked' || !app
    return ended ? [] : [{ grant, installation, app }]
  })
  return { items: live, next }
}

/** Finds a live grant by its id alone. It looks in the list, because the grant's key contains the installation. */
export const findLiveGrant = async (
  deps: Pick<Deps, 'table'>,
  workspaceId: string,
  id: string,
): Promise<ListedGrant | undefined> => {
  const { items } = await listGrants(deps, workspaceId, { limit: 1, from: id, to: id })
  return items[0]
}
