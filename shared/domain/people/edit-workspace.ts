import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { placeOfWorkspace, rosterWrites } from '../roster/places.ts'
import { tryAgain } from '../try-again.ts'
import type { Belonging } from './memberships.ts'
import { presentWorkspace } from './present.ts'
import { given } from './profile.ts'
import { holdsStill } from './rank.ts'
import type { EditWorkspaceInput } from './schemas.ts'

/** `PATCH /console/workspace`: what is given changes, the rest stays. */
export const editWorkspace = (work: Work, { member }: Pick<Belonging, 'member'>, changes: EditWorkspaceInput) =>
  tryAgain(async () => {
    const { workspace_id: id, user_id: userId } = member
    const workspace = await work.table.get(WorkspaceEntity, { id })
    if (!workspace) throw fail('not_found')
    const set = given(changes)
    const names = Object.keys(set) as (keyof typeof set)[]
    const before = Object.fromEntries(names.map((name) => [name, workspace[name]])) as Partial<Workspace>
    const view = presentWorkspace({ workspace: { ...workspace, ...set }, member })
    if (JSON.stringify(before) === JSON.stringify(set)) return view
    await work.commit(
      [
        WorkspaceEntity.update({ id }, { set }, { where: { ...before, status: workspace.status } }),
        ...rosterWrites(placeOfWorkspace(workspace), placeOfWorkspace({ ...workspace, ...set })),
        holdsStill(member, 'admin'),
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
