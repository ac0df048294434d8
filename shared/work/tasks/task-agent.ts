import { canTakeTasks, hasConsent, type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { suspended, type Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'

/** The workspace of a task, with its blocked scopes. */
export type TaskWorkspace = Pick<Workspace, 'id' | 'denied_scopes'>

/**
 * Loads the agent of the workspace that a person gives a task to.
 * @throws `not_found`, `installation_suspended`, `access_withdrawn`, `agent_cannot_take_tasks`
 */
export const loadTaskAgent = async (
  { table }: Pick<Deps, 'table'>,
  workspace: TaskWorkspace,
  installationId: string,
): Promise<Installation> => {
  const installation = isId('installation', installationId)
    ? await table.get(InstallationEntity, { workspace_id: workspace.id, id: installationId })
    : undefined
  if (!installation || installation.status === 'revoked') {
    throw fail('not_found', { message: 'Installation not found.' })
  }
  if (installation.status === 'suspended') throw suspended()
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  if (!canTakeTasks(installation, workspace)) throw fail('agent_cannot_take_tasks')
  return installation
}
