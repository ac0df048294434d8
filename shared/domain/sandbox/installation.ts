import { type App, type Version, VersionEntity } from '../../entities/apps.ts'
import type { Developer } from '../../entities/developers.ts'
import { AppInstallationEntity, InstallationEntity } from '../../entities/installations.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { ownApp } from '../apps/read.ts'
import type { Deps } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import type { Install } from '../installations/install.ts'
import { newestVersion } from '../versions/read.ts'

type Reading = Pick<Deps, 'table'>

/**
 * What installing an app into its developer's sandbox workspace takes. The developer owns the installation, and it holds
 * every scope that the app requests now: there is no customer to consent.
 * @param version `newest` moves the installation to the manifest published last; `attached` leaves it on the one it has
 * @throws `not_found` for another developer's app, `no_manifest`, `app_suspended`, `installation_suspended`
 */
export const sandboxInstall = async (
  deps: Reading,
  developerId: string,
  appId: string,
  version: 'newest' | 'attached',
): Promise<Install> => {
  const [app, developer] = await Promise.all([ownApp(deps, developerId, appId), loadDeveloper(deps, developerId)])
  if (app.status === 'suspended') throw fail('app_suspended')
  const [workspace, newest, attached] = await Promise.all([
    deps.table.get(WorkspaceEntity, { id: developer.sandbox_workspace_id }),
    newestVersion(deps, app),
    version === 'attached' ? attachedVersion(deps, developer, app) : undefined,
  ])
  if (workspace?.status !== 'active') throw fail('installation_suspended')
  return {
    app,
    version: attached ?? newest,
    workspace,
    scopes: app.requested_scopes,
    owner: { id: developer.id, name: developer.name },
    sandbox: version === 'newest' ? 'move' : 'keep',
  }
}

const attachedVersion = async (
  { table }: Reading,
  { sandbox_workspace_id: workspace_id }: Developer,
  { id: app_id }: App,
): Promise<Version | undefined> => {
  const known = await table.get(AppInstallationEntity, { workspace_id, app_id })
  const installation = known && (await table.get(InstallationEntity, { workspace_id, id: known.installation_id }))
  if (installation?.status !== 'active') return undefined
  return table.get(VersionEntity, { app_id, id: installation.version_id })
}
