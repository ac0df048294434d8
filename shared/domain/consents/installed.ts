import { AppInstallationEntity, type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Deps } from '../deps.ts'

/**
 * An app's installations, revoked ones aside, by the id of their workspace.
 * Two batches, however many workspaces there are.
 */
export const installedIn = async (
  { table }: Pick<Deps, 'table'>,
  appId: string,
  workspaceIds: readonly string[],
): Promise<Map<string, Installation>> => {
  const guards = await table.getAll(
    workspaceIds.map((workspace_id) => ({
      entity: AppInstallationEntity,
      key: AppInstallationEntity.key({ workspace_id, app_id: appId }),
    })),
  )
  const installations = await table.getAll(
    guards
      .filter((guard) => guard !== undefined)
      .map(({ workspace_id, installation_id }) => ({
        entity: InstallationEntity,
        key: InstallationEntity.key({ workspace_id, id: installation_id }),
      })),
  )
  const live = installations.filter((one) => one !== undefined).filter(({ status }) => status !== 'revoked')
  return new Map(live.map((one) => [one.workspace_id, one]))
}
