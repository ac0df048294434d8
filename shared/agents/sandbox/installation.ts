import { AppInstallationEntity, type Install, InstallationEntity } from '#shared/access/installations/index.ts'
import { type App, loadOwnApp } from '#shared/catalogue/apps/index.ts'
import { loadNewestVersion, type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import type { Developer } from '#shared/identity/developers/index.ts'
import { suspended, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'

type Reading = Pick<Deps, 'table'>

/**
 * Prepares the installation of an app in its developer's sandbox workspace. The developer owns the installation. It
 * holds every scope the app currently requests, since no customer has to consent.
 * @param version `newest` moves the installation to the latest published manifest; `attached` keeps its current one
 * @throws `not_found` for another developer's app, `no_manifest`, `app_suspended`, `installation_suspended`
 */
export const prepareSandboxInstall = async (
  deps: Reading,
  developerId: string,
  appId: string,
  version: 'newest' | 'attached',
): Promise<Install> => {
  const [app, developer] = await Promise.all([loadOwnApp(deps, developerId, appId), loadDeveloper(deps, developerId)])
  if (app.status === 'suspended') throw fail('app_suspended')
  const [workspace, newest, attached] = await Promise.all([
    deps.table.get(WorkspaceEntity, { id: developer.sandbox_workspace_id }),
    loadNewestVersion(deps, app),
    version === 'attached' ? attachedVersion(deps, developer, app) : undefined,
  ])
  if (workspace?.status !== 'active') throw suspended(workspace)
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
