import * as z from 'zod'
import { AppEntity } from '../../entities/apps.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { type Member, WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { missing } from '../../table/expressions.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { idField } from '../fields.ts'
import { holdsStill } from '../people/rank.ts'
import { tryAgain } from '../try-again.ts'
import { installationIn } from './chats.ts'

/** `PUT /console/settings/primary-agent`. */
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
    .object({ installation_id: idField('ins').nullable().meta({ description: 'Null: the platform’s orchestrator.' }) })
    .meta({ id: 'PrimaryAgentSetting' })

/**
 * Chooses who answers the workspace's main chats, from the next message on. What is the same already changes nothing.
 * @throws `not_found` also for another workspace's, and for what was uninstalled; `installation_suspended`, `app_suspended`;
 *   `admin_required` for who lost the role meanwhile
 */
export const setPrimaryAgent = (
  work: Work,
  member: Member,
  id: string | null,
): Promise<{ installation_id: string | null }> =>
  tryAgain(async () => {
    const by = { workspaceId: member.workspace_id, userId: member.user_id }
    const workspace = await work.table.get(WorkspaceEntity, { id: by.workspaceId })
    if (!workspace) throw fail('not_found')
    const before = workspace.primary_installation_id ?? null
    const view = { installation_id: id }
    const installation = id === null ? undefined : await working(work, by.workspaceId, id)
    if (before === id) return view
    await work.commit(
      [
        WorkspaceEntity.update(
          workspace,
          { set: { primary_installation_id: id ?? undefined } },
          { where: { primary_installation_id: before ?? missing } },
        ),
        holdsStill(member, 'admin'),
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

const working = async (work: Work, workspaceId: string, id: string) => {
  const installation = await installationIn(work, { id: workspaceId }, id)
  if (installation.status === 'revoked') throw fail('not_found', { message: 'There is no such installation.' })
  if (installation.status === 'suspended') throw fail('installation_suspended')
  const app = await work.table.get(AppEntity, { id: installation.app_id })
  if (app?.status === 'suspended') throw fail('app_suspended')
  return installation
}
