import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { missing } from '../../table/expressions.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { placeOfWorkspace, rosterWrites } from '../roster/places.ts'
import { tryAgain } from '../try-again.ts'
import { stoppageWrites } from './begin.ts'
import { type ModeratedWorkspaceView, presentModeratedWorkspace, type SetStatusInput } from './schemas.ts'

/**
 * `POST /admin/workspaces/{id}/status`.
 *
 *     active ──suspended──► suspended ──active──► active
 *     deleting stays so; the status decides what it goes back to when its owner takes the deletion back
 *
 * @throws `not_found`; `conflict` for one that has that status
 */
export const setWorkspaceStatus = (
  work: Work,
  moderator: Moderator,
  id: string,
  { status, reason }: SetStatusInput,
): Promise<ModeratedWorkspaceView> =>
  tryAgain(async () => {
    const workspace = await work.table.get(WorkspaceEntity, { id })
    if (!workspace) throw fail('not_found', { message: 'There is no such workspace.' })
    const deleting = workspace.status === 'deleting'
    const before = deleting ? (workspace.status_before ?? 'active') : workspace.status
    if (before === status) {
      throw fail('conflict', { message: `The workspace is ${status} already.`, fix: 'There is nothing to do.' })
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
        auditStaff(
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
