import { AppEntity, VersionEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import type { Run } from '../../entities/runs.ts'
import type { ItemOf } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import { ORCHESTRATOR_APP_ID } from '../orchestrator/principal.ts'
import { loadOrchestrator } from '../orchestrator/target.ts'

/** What a run is handed to. */
export interface Target {
  app: ItemOf<typeof AppEntity>
  version: ItemOf<typeof VersionEntity>
  installation: Installation
  workspace: Workspace
}

/** Why a run is handed to nobody: its `error_code` and `error_message`. */
export interface Refused {
  refused: [code: string, message: string]
}

/** What a run needs to be handed on, or why it is not: suspension stops also what was queued before. */
export const loadTarget = async (deps: Pick<Deps, 'table'>, run: Run): Promise<Target | Refused> => {
  if (run.app_id === ORCHESTRATOR_APP_ID) return loadOrchestrator(deps, run)
  const { table } = deps
  const [app, version, installation, workspace] = await table.getAll([
    { entity: AppEntity, key: AppEntity.key({ id: run.app_id }) },
    { entity: VersionEntity, key: VersionEntity.key({ app_id: run.app_id, id: run.version_id }) },
    {
      entity: InstallationEntity,
      key: InstallationEntity.key({ workspace_id: run.workspace_id, id: run.installation_id }),
    },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: run.workspace_id }) },
  ] as const)
  if (app?.status === 'suspended') return { refused: ['app_suspended', 'The integration is suspended.'] }
  if (installation?.status === 'suspended' || (workspace && workspace.status !== 'active')) {
    return { refused: ['installation_suspended', 'The installation is suspended.'] }
  }
  if (!app || !version || !workspace || installation?.status !== 'active') {
    return { refused: ['installation_revoked', 'The app is no longer installed.'] }
  }
  return { app, version, installation, workspace }
}
