import { leavingPlace, type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { missing, type Test } from '../../table/expressions.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { placeOfWorkspace, rosterWrites } from '../roster/places.ts'
import { tryAgain } from '../try-again.ts'
import type { Belonging } from './memberships.ts'
import { presentWorkspace } from './present.ts'
import { holdsStill } from './rank.ts'

/**
 * From now on the workspace's agents can do nothing; after the grace its data is removed (see domain/removal). Taken back by
 * {@link restoreWorkspace} until then.
 * @param guard what else has to be as it was
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
 * `DELETE /console/workspace`: in 14 days. For one that is to be deleted already it changes nothing.
 * @throws `conflict` for a developer's sandbox
 */
export const deleteWorkspace = (work: Work, { member }: Belonging): Promise<void> =>
  tryAgain(async () => {
    const workspace = await work.table.get(WorkspaceEntity, { id: member.workspace_id })
    if (!workspace) throw fail('not_found')
    if (workspace.is_sandbox) {
      throw fail('conflict', {
        message: 'A sandbox workspace belongs to its developer account and stays as long as that.',
        fix: 'Remove what is in it: DELETE /api/v1/dev/sandbox/seed, DELETE /console/installations/{id}.',
      })
    }
    if (workspace.status === 'deleting') return
    await work.commit([
      ...deletionWrites(work, workspace, member.user_id),
      holdsStill(member, 'owner'),
      ...newNotification(work, {
        workspace_id: workspace.id,
        kind: 'workspace.deleting',
        title: 'This workspace will be deleted in 14 days',
        body: 'Save what you need. Until then an owner can take the deletion back.',
        target: { type: 'workspace', id: workspace.id },
      }).writes,
    ])
  })

/**
 * `POST /console/workspace/restore`: the deletion is taken back, and agents can work again.
 * @throws `conflict` for a workspace that is not to be deleted, or whose removal has begun
 */
export const restoreWorkspace = (work: Work, { member }: Belonging) =>
  tryAgain(async () => {
    const id = member.workspace_id
    const workspace = await work.table.get(WorkspaceEntity, { id })
    if (workspace?.status !== 'deleting') {
      throw fail('conflict', { message: 'This workspace is not to be deleted.', fix: 'There is nothing to take back.' })
    }
    const { deletes_at, removal_began_at } = workspace
    if (removal_began_at !== undefined) {
      throw fail('conflict', { message: 'The grace is over: this workspace is being removed.', fix: 'Make a new one.' })
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
        holdsStill(member, 'owner'),
        auditPerson(work, { workspaceId: id, userId: member.user_id }, 'workspace.deletion_cancelled', {
          type: 'workspace',
          id,
        }),
      ],
      view,
    )
    return view
  })
