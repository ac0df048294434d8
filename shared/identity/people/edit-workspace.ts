import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { placeOfWorkspace, rosterWrites } from '#shared/staff/roster/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Workspace, WorkspaceEntity } from './entity.ts'
import type { Belonging } from './memberships.ts'
import { presentWorkspace } from './present.ts'
import { definedFields } from './profile.ts'
import { roleCheck } from './rank.ts'
import type { EditWorkspaceInput } from './schemas.ts'

/** Changes the given fields of a workspace (`PATCH /console/workspace`). */
export const editWorkspace = (work: Work, { member }: Pick<Belonging, 'member'>, changes: EditWorkspaceInput) =>
  retryOnConflict(async () => {
    const { workspace_id: id, user_id: userId } = member
    const workspace = await work.table.get(WorkspaceEntity, { id })
    if (!workspace) throw fail('not_found')
    const set = definedFields(changes)
    const names = Object.keys(set) as (keyof typeof set)[]
    const before = Object.fromEntries(names.map((name) => [name, workspace[name]])) as Partial<Workspace>
    const view = presentWorkspace({ workspace: { ...workspace, ...set }, member })
    if (JSON.stringify(before) === JSON.stringify(set)) return view
    await work.commit(
      [
        WorkspaceEntity.update({ id }, { set }, { where: { ...before, status: workspace.status } }),
        ...rosterWrites(placeOfWorkspace(workspace), placeOfWorkspace({ ...workspace, ...set })),
        roleCheck(member, 'admin'),
        auditPerson(
          work,
          { workspaceId: id, userId },
          'workspace.edited',
          { type: 'workspace', id },
          { fields: names },
        ),
      ],
      view,
    )
    return view
  })
