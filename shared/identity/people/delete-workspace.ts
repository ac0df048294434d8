import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg } from '#shared/kernel/messages.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { placeOfWorkspace, rosterWrites } from '#shared/staff/roster/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing, type Test } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { newNotification } from '../notifications/new.ts'
import { leavingPlace, type Workspace, WorkspaceEntity } from './entity.ts'
import type { Belonging } from './memberships.ts'
import { presentWorkspace } from './present.ts'
import { roleCheck } from './rank.ts'

/**
 * Returns the writes that schedule the deletion of a workspace. Its agents stop working at once, and its data is removed
 * after the grace period (see domain/removal). Until then {@link restoreWorkspace} can undo it.
 * @param guard further conditions on the workspace
 */
export const deletionWrites = (
  work: Work,
  workspace: Workspace,
  userId: string,
  guard: { joined_at?: number | Test } = {},
): Write[] => {
  const { id, status, name } = workspace
  const deletes_at = work.clock.now() + LIMITS.workspaceGrace
  return [
    WorkspaceEntity.update(
      { id },
      {
        set: { status: 'deleting', status_before: status === 'suspended' ? 'suspended' : 'active', deletes_at },
        list: leavingPlace({ id, deletes_at }) ?? null,
      },
      { where: { status, name, ...guard } },
    ),
    ...rosterWrites(placeOfWorkspace(workspace), placeOfWorkspace({ ...workspace, status: 'deleting' })),
    auditPerson(
      work,
      { workspaceId: id, userId },
      'workspace.deletion_requested',
      { type: 'workspace', id },
      { deletes_at },
    ),
  ]
}

/**
 * Schedules the deletion of a workspace in 14 days (`DELETE /console/workspace`). Does nothing if it is already scheduled.
 * @throws `conflict` for a developer's sandbox
 */
export const deleteWorkspace = (work: Work, { member }: Belonging): Promise<void> =>
  retryOnConflict(async () => {
    const workspace = await work.table.get(WorkspaceEntity, { id: member.workspace_id })
    if (!workspace) throw fail('not_found')
    if (workspace.is_sandbox) {
      throw fail('conflict', {
        message: 'You can’t delete a sandbox workspace. It exists as long as its developer account.',
        fix: 'Delete its content instead: DELETE /api/v1/dev/sandbox/seed, DELETE /console/installations/{id}.',
      })
    }
    if (workspace.status === 'deleting') return
    await work.commit([
      ...deletionWrites(work, workspace, member.user_id),
      roleCheck(member, 'owner'),
      ...newNotification(work, {
        workspace_id: workspace.id,
        kind: 'workspace.deleting',
        title: msg('This workspace will be deleted in 14 days'),
        body: msg('Save anything you want to keep. Until then, an owner can cancel the deletion.'),
        target: { type: 'workspace', id: workspace.id },
      }).writes,
    ])
  })

/**
 * Cancels the deletion of a workspace, so that its agents work again (`POST /console/workspace/restore`).
 * @throws `conflict` if no deletion is scheduled, or the removal has started
 */
export const restoreWorkspace = (work: Work, { member }: Belonging) =>
  retryOnConflict(async () => {
    const id = member.workspace_id
    const workspace = await work.table.get(WorkspaceEntity, { id })
    if (workspace?.status !== 'deleting') {
      throw fail('conflict', {
        message: 'This workspace is not scheduled for deletion.',
        fix: 'Use the workspace as it is.',
      })
    }
    const { deletes_at, removal_began_at } = workspace
    if (removal_began_at !== undefined) {
      throw fail('conflict', {
        message: 'The grace period has ended and this workspace is being removed.',
        fix: 'Create a new workspace.',
      })
    }
    const restored = { status: workspace.status_before ?? 'active', status_before: undefined, deletes_at: undefined }
    const view = presentWorkspace({ workspace: { ...workspace, ...restored }, member })
    await work.commit(
      [
        WorkspaceEntity.update(
          { id },
          { set: restored, list: null },
          {
            where: {
              status: 'deleting',
              deletes_at,
              removal_began_at: missing,
              name: workspace.name,
              status_before: workspace.status_before ?? missing,
            },
          },
        ),
        ...rosterWrites(placeOfWorkspace(workspace), placeOfWorkspace({ ...workspace, status: restored.status })),
        roleCheck(member, 'owner'),
        auditPerson(work, { workspaceId: id, userId: member.user_id }, 'workspace.deletion_cancelled', {
          type: 'workspace',
          id,
        }),
      ],
      view,
    )
    return view
  })
