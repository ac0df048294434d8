import type { Deps } from '#shared/foundation/work/index.ts'
import { AppInstallationEntity, type Installation, InstallationEntity } from './entity.ts'

type Reading = Pick<Deps, 'table'>

interface Place {
  workspace_id: string
  app_id: string
}

/** Loads the last installation at each of these places, in two batches for any number of places. */
const lastInstalledAt = async ({ table }: Reading, places: readonly Place[]): Promise<Installation[]> => {
  const guards = await table.getAll(places.map((place) => AppInstallationEntity.ref({ ...place })))
  const installations = await table.getAll(
    guards
      .filter((guard) => guard !== undefined)
      .map(({ workspace_id, installation_id }) => InstallationEntity.ref({ workspace_id, id: installation_id })),
  )
  return installations.filter((installation) => installation !== undefined)
}

const installedAt = async (deps: Reading, places: readonly Place[]): Promise<Installation[]> =>
  (await lastInstalledAt(deps, places)).filter(({ status }) => status !== 'revoked')

/** Loads an app's installations by workspace id, except revoked ones. */
export const loadInstallationsByWorkspace = async (
  deps: Reading,
  appId: string,
  workspaceIds: readonly string[],
): Promise<Map<string, Installation>> => {
  const places = workspaceIds.map((workspace_id) => ({ workspace_id, app_id: appId }))
  return new Map((await installedAt(deps, places)).map((installation) => [installation.workspace_id, installation]))
}

/** Loads a workspace's installations of these apps by app id, except revoked ones. */
export const loadInstallationsByApp = async (
  deps: Reading,
  workspaceId: string,
  appIds: readonly string[],
): Promise<Map<string, Installation>> => {
  const places = appIds.map((app_id) => ({ workspace_id: workspaceId, app_id }))
  return new Map((await installedAt(deps, places)).map((installation) => [installation.app_id, installation]))
}

/**
 * Loads a workspace's last installations of these apps by app id, also revoked ones. Decisions about an app name the app,
 * and hold while it isn't installed.
 */
export const loadLastInstallations = async (
  deps: Reading,
  workspaceId: string,
  appIds: readonly string[],
): Promise<Map<string, Installation>> => {
  const places = [...new Set(appIds)].map((app_id) => ({ workspace_id: workspaceId, app_id }))
  return new Map((await lastInstalledAt(deps, places)).map((installation) => [installation.app_id, installation]))
}
