import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Installation, InstallationEntity } from '../installations/entity.ts'
import { type Grant, GrantEntity, grantsOf } from './entity.ts'
import { sandboxRights } from './given-by.ts'

export interface ListedGrant {
  grant: Grant
  installation: Installation
  app: App
}

/**
 * Lists a workspace's live grants, newest first. The index may show an ended grant for a moment, and grants of an
 * uninstalled app, or of a developer's key that is gone, have ended too. A page may therefore hold fewer grants than its
 * limit.
 */
export const listGrants = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after' | 'from' | 'to'>,
): Promise<Page<ListedGrant>> => {
  const { table } = deps
  const { items, next } = await table.listed(GrantEntity, grantsOf(workspaceId), options)
  const [installations, apps, rights] = await Promise.all([
    table.getAll(items.map(({ workspace_id, installation_id: id }) => InstallationEntity.ref({ workspace_id, id }))),
    table.getAll(items.map(({ app_id }) => AppEntity.ref({ id: app_id }))),
    Promise.all(items.map((grant) => sandboxRights(deps, grant))),
  ])
  const live = items.flatMap((grant, i) => {
    const [installation, app] = [installations[i], apps[i]]
    const ended = grant.status !== 'active' || !installation || installation.status === 'revoked' || !app
    return ended || rights[i] === 'ended' ? [] : [{ grant, installation, app }]
  })
  return { items: live, next }
}

/** Finds a live grant by its id alone. It looks in the list, because the grant's key contains the installation. */
export const findLiveGrant = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspaceId: string,
  id: string,
): Promise<ListedGrant | undefined> => {
  const { items } = await listGrants(deps, workspaceId, { limit: 1, from: id, to: id })
  return items[0]
}
