import { type App, AppEntity, ListedAppEntity } from '../../../entities/apps.ts'
import type { Developer } from '../../../entities/developers.ts'
import { type Installation, InstallationEntity } from '../../../entities/installations.ts'
import { WorkspaceEntity } from '../../../entities/people.ts'
import { fail } from '../../../kernel/errors.ts'
import { inDirectory } from '../../../table/lists.ts'
import type { Deps } from '../../deps.ts'
import type { Install } from '../../installations/install.ts'
import { installableVersion } from '../../installations/version.ts'

type Reading = Pick<Deps, 'table'>

/** Listed apps and installations that are looked at. */
const LOOKED_AT = 20

/**
 * The newest app that is approved and listed.
 * @throws `marketplace_empty`
 */
export const listedApp = async ({ table }: Reading): Promise<App> => {
  const { items } = await inDirectory(table, ListedAppEntity, 'marketplace', undefined, { limit: LOOKED_AT })
  const apps = (await table.getAll(
    items.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) })),
  )) as (App | undefined)[]
  // The index lags: what was suspended this moment is still in it.
  const listed = apps.find((app) => app?.status === 'approved' && app.promoted_version_id !== undefined)
  if (listed) return listed
  throw fail('marketplace_empty', {
    message: 'No app is approved and listed, so there is no agent to fill the sandbox with.',
    fix: 'Submit an app with POST /api/v1/dev/apps/{id}/submit and have a moderator approve it (locally: POST /admin/apps/{id}/approve with X-Admin-Key), then seed again.',
  })
}

/** The agents that work in the sandbox already, the newest first. */
export const agentsOf = async ({ table }: Reading, workspace_id: string): Promise<Installation[]> => {
  const { items } = await table.query(InstallationEntity, { workspace_id }, { limit: LOOKED_AT })
  return items.filter(({ status }) => status === 'active')
}

/** What installing a listed app for the seed takes: all that it requests, owned by the developer. */
export const seedInstall = async (
  deps: Reading,
  { id, name, sandbox_workspace_id }: Pick<Developer, 'id' | 'name' | 'sandbox_workspace_id'>,
  app: App,
): Promise<Install> => {
  const workspace = await deps.table.get(WorkspaceEntity, { id: sandbox_workspace_id })
  if (workspace?.status !== 'active') throw fail('installation_suspended')
  return {
    app,
    version: await installableVersion(deps, app, workspace),
    workspace,
    scopes: app.requested_scopes,
    owner: { id, name },
    sandbox: 'keep',
  }
}
