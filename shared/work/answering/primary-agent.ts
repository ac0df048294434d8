import * as z from 'zod'
import { hasConsent, InstallationEntity, requireChatScopes } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Member, roleCheck, suspended, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { loadInstallation } from './chats.ts'

/** Body of `PUT /console/settings/primary-agent`. */
export const PrimaryAgent = () =>
  z
    .strictObject({
      installation_id: z.string().nullable().meta({
        description: 'An active agent of the workspace; null returns to the platform’s orchestrator.',
        example: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn',
      }),
    })
    .meta({ id: 'PrimaryAgent' })

export const PrimaryAgentSchema = () =>
  z
    .object({
      installation_id: idField('ins').nullable().meta({ description: 'Null for the platform’s orchestrator.' }),
    })
    .meta({ id: 'PrimaryAgentSetting' })

/**
 * Sets the agent that answers the workspace's main chats, from the next message on. Setting the same agent changes nothing.
 * @throws `not_found` also for another workspace's installation and an uninstalled app; `installation_suspended`,
 *   `app_suspended`; `conflict` for an agent that may not answer conversations; `admin_required` if the person lost the role in the meantime
 */
export const setPrimaryAgent = (
  work: Work,
  member: Member,
  id: string | null,
): Promise<{ installation_id: string | null }> =>
  retryOnConflict(async () => {
    const by = { workspaceId: member.workspace_id, userId: member.user_id }
    const workspace = await work.table.get(WorkspaceEntity, { id: by.workspaceId })
    if (!workspace) throw fail('not_found')
    const before = workspace.primary_installation_id ?? null
    const view = { installation_id: id }
    const installation = id === null ? undefined : await loadWorking(work, workspace, id)
    if (before === id) return view
    await work.commit(
      [
        WorkspaceEntity.update(
          workspace,
          { set: { primary_installation_id: id ?? undefined } },
          { where: { primary_installation_id: before ?? missing } },
        ),
        roleCheck(member, 'admin'),
        ...(installation ? [InstallationEntity.check(installation, { where: { status: 'active' } })] : []),
        auditPerson(
          work,
          by,
          'workspace.primary_agent_changed',
          { type: 'workspace', id: by.workspaceId },
          { before, after: id },
        ),
      ],
      view,
    )
    return view
  })

const loadWorking = async (work: Work, workspace: Workspace, id: string) => {
  const installation = await loadInstallation(work, workspace, id)
  if (installation.status === 'revoked') throw fail('not_found', { message: 'Installation not found.' })
  if (installation.status === 'suspended') throw suspended()
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  const app = await work.table.get(AppEntity, { id: installation.app_id })
  if (app?.status === 'suspended') throw fail('app_suspended')
  requireChatScopes(installation, workspace)
  return installation
}
