import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { takesTasks } from '../agents/find.ts'
import type { Deps } from '../deps.ts'

/** The organization of a task, and what it forbids. */
export type Organization = Pick<Workspace, 'id' | 'denied_scopes'>

/**
 * An agent of the workspace that a person gives a task to.
 * @throws `not_found`, `installation_suspended`, `agent_cannot_take_tasks`
 */
export const takerIn = async (
  { table }: Pick<Deps, 'table'>,
  workspace: Organization,
  installationId: string,
): Promise<Installation> => {
  const installation = isId('installation', installationId)
    ? await table.get(InstallationEntity, { workspace_id: workspace.id, id: installationId })
    : undefined
  if (!installation || installation.status === 'revoked') {
    throw fail('not_found', { message: 'There is no such installation.' })
  }
  if (installation.status === 'suspended') throw fail('installation_suspended')
  if (!takesTasks(installation, workspace)) throw fail('agent_cannot_take_tasks')
  return installation
}
