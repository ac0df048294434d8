import {
  type Install,
  type Installation,
  InstallationEntity,
  loadInstallableVersion,
} from '#shared/access/installations/index.ts'
import { type App, AppEntity, ListedAppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Developer } from '#shared/identity/developers/index.ts'
import { suspended, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { listDirectory } from '#shared/table/lists.ts'

type Reading = Pick<Deps, 'table'>

/** Maximum number of listed apps and installations read. */
const LOOKED_AT = 20

/**
 * The newest app that is approved and listed.
 * @throws `marketplace_empty`
 */
export const findListedApp = async ({ table }: Reading): Promise<App> => {
  const { items } = await listDirectory(table, ListedAppEntity, 'marketplace', undefined, { limit: LOOKED_AT })
  const apps = await table.getAll(items.map(({ app_id }) => AppEntity.ref({ id: app_id })))
  // The index lags, so it can still hold an app that was just suspended.
  const listed = apps.find((app) => app?.status === 'approved' && app.promoted_version_id !== undefined)
  if (listed) return listed
  throw fail('marketplace_empty', {
    message: 'The marketplace has no approved and listed app to fill the sandbox with.',
    fix: 'Submit an app with POST /api/v1/dev/apps/{id}/submit and have a moderator approve it (locally: POST /admin/apps/{id}/approve with X-Admin-Key), then seed again.',
  })
}

/** Lists the active agents of the sandbox, newest first. */
export const listSandboxAgents = async ({ table }: Reading, workspace_id: string): Promise<Installation[]> => {
  const { items } = await table.query(InstallationEntity, { workspace_id }, { limit: LOOKED_AT })
  return items.filter(({ status }) => status === 'active')
}

/** Prepares the installation of a listed app for the seed, with all scopes it requests and owned by the developer. */
export const prepareSeedInstall = async (
  deps: Reading,
  { id, name, sandbox_workspace_id }: Pick<Developer, 'id' | 'name' | 'sandbox_workspace_id'>,
  app: App,
): Promise<Install> => {
  const workspace = await deps.table.get(WorkspaceEntity, { id: sandbox_workspace_id })
  if (workspace?.status !== 'active') throw suspended(workspace)
  return {
    app,
    version: await loadInstallableVersion(deps, app, workspace),
    workspace,
    scopes: app.requested_scopes,
    owner: { id, name },
    sandbox: 'keep',
  }
}
