import type { Work } from '#shared/foundation/work/index.ts'
import { type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { placeOfWorkspace, rosterWrites } from '#shared/staff/roster/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type ModeratedWorkspaceView, presentModeratedWorkspace, type SetStatusInput } from './schemas.ts'
import { stoppageWrites } from './stoppage-writes.ts'

/**
 * Handles `POST /admin/workspaces/{id}/status`.
 *
 *     active ──suspended──► suspended ──active──► active
 *     deleting stays deleting; the status is the one that cancelling the deletion restores
 *
 * @throws `not_found`; `conflict` if the workspace already has that status
 */
export const setWorkspaceStatus = (
  work: Work,
  moderator: Moderator,
  id: string,
  { status, reason }: SetStatusInput,
): Promise<ModeratedWorkspaceView> =>
  retryOnConflict(async () => {
    const workspace = await work.table.get(WorkspaceEntity, { id })
    if (!workspace) throw fail('not_found', { message: 'Workspace not found.' })
    const deleting = workspace.status === 'deleting'
    const before = deleting ? (workspace.status_before ?? 'active') : workspace.status
    if (before === status) {
      throw fail('conflict', { message: `The workspace is already ${status}.`, fix: 'No action is needed.' })
    }
    const set = {
      ...(deleting ? { status_before: status } : { status }),
      status_reason: status === 'suspended' ? reason : undefined,
    }
    const after = { ...workspace, ...set } as Workspace
    const view = presentModeratedWorkspace(after)
    await work.commit(
      [
        WorkspaceEntity.update(
          { id },
          { set },
          {
            where: {
              status: workspace.status,
              status_before: workspace.status_before ?? missing,
              name: workspace.name,
            },
          },
        ),
        ...rosterWrites(placeOfWorkspace(workspace), placeOfWorkspace(after)),
        ...(status === 'suspended' ? stoppageWrites(work, { kind: 'workspace', id }) : []),
        auditAdmin(
          work,
          moderator,
          status === 'suspended' ? 'workspace.suspended' : 'workspace.unsuspended',
          { type: 'workspace', id },
          { before: { status: before }, after: { status }, reason },
        ),
      ],
      view,
    )
    return view
  })
