import { AppInstallationEntity, type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Deps } from '../deps.ts'

type Reading = Pick<Deps, 'table'>
interface Place {
  workspace_id: string
  app_id: string
}

/** What is installed at these places, revoked installations aside. Two batches, however many places there are. */
const installedAt = async ({ table }: Reading, places: readonly Place[]): Promise<Installation[]> => {
  const guards = await table.getAll(
    places.map((place) => ({ entity: AppInstallationEntity, key: AppInstallationEntity.key({ ...place }) })),
  )
  const installations = await table.getAll(
    guards
      .filter((guard) => guard !== undefined)
      .map(({ workspace_id, installation_id }) => ({
        entity: InstallationEntity,
        key: InstallationEntity.key({ workspace_id, id: installation_id }),
      })),
  )
  return installations.filter((one) => one !== undefined).filter(({ status }) => status !== 'revoked')
}

/** An app's installations, revoked ones aside, by the id of their workspace. */
export const installedIn = async (
  deps: Reading,
  appId: string,
  workspaceIds: readonly string[],
): Promise<Map<string, Installation>> => {
  const places = workspaceIds.map((workspace_id) => ({ workspace_id, app_id: appId }))
  return new Map((await installedAt(deps, places)).map((one) => [one.workspace_id, one]))
}

/** A workspace's installations of these apps, revoked ones aside, by the id of the app. */
export const installedHere = async (
  deps: Reading,
  workspaceId: string,
  appIds: readonly string[],
): Promise<Map<string, Installation>> => {
  const places = appIds.map((app_id) => ({ workspace_id: workspaceId, app_id }))
  return new Map((await installedAt(deps, places)).map((one) => [one.app_id, one]))
}
