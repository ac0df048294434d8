import {
  GrantEntity,
  type Installation,
  InstallationEntity,
  InstallationPlaceEntity,
  installationsBy,
} from '../../entities/installations.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { tellInstallation } from '../installations/tell.ts'
import { movedBetween } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import { stoppageWrites } from './begin.ts'
import { type ModeratedInstallationView, presentModeratedInstallation, type SetStatusInput } from './schemas.ts'

/**
 * `POST /admin/installations/{id}/status`. One that was uninstalled stays so, and in a workspace that is not active none comes
 * back.
 * @throws `not_found`; `conflict`
 */
export const setInstallationStatus = (
  work: Work,
  moderator: Moderator,
  id: string,
  { status, reason }: SetStatusInput,
): Promise<ModeratedInstallationView> =>
  tryAgain(async () => {
    const installation = await findInstallation(work, id)
    const { workspace_id, app_id, status: before } = installation
    if (before === 'revoked') {
      throw fail('conflict', { message: 'The app was uninstalled.', fix: 'Only the customer can install it again.' })
    }
    if (before === status) {
      throw fail('conflict', { message: `The installation is ${status} already.`, fix: 'There is nothing to do.' })
    }
    const now = work.clock.now()
    const set = { status, status_reason: status === 'suspended' ? reason : undefined, updated_at: now }
    const after = { ...installation, ...set } as Installation
    const view = presentModeratedInstallation(after)
    await work.commit(
      [
        InstallationEntity.update(installation, { set }, { where: { status: before } }),
        ...movedBetween(installationsBy(before), installationsBy(status), id),
        tellInstallation(work, 'installation.updated', after),
        ...(status === 'suspended'
          ? stoppageWrites(work, { kind: 'installation', id, workspace_id, app_id })
          : [workspaceIsActive(workspace_id)]),
        auditStaff(
          work,
          moderator,
          status === 'suspended' ? 'installation.suspended' : 'installation.unsuspended',
          { type: 'installation', id },
          { before: { status: before }, after: { status }, reason, workspace_id, app_id },
        ),
      ],
      view,
    )
    return view
  })

const workspaceIsActive = (id: string): Write =>
  WorkspaceEntity.check(
    { id },
    {
      where: { status: 'active' },
      otherwise: () =>
        fail('conflict', {
          message: 'Its workspace is suspended or being deleted.',
          fix: 'Unsuspend the workspace first: POST /admin/workspaces/{id}/status.',
        }),
    },
  )

/** An installation by its id alone. One from before its place was kept is found by its grants. */
const findInstallation = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Installation> => {
  const [place, grants] = await Promise.all([
    table.get(InstallationPlaceEntity, { installation_id: id }),
    table.query(GrantEntity, { installation_id: id }, { limit: 1 }),
  ])
  const workspace_id = (place ?? grants.items[0])?.workspace_id
  const installation = workspace_id && (await table.get(InstallationEntity, { workspace_id, id }))
  if (!installation) throw fail('not_found', { message: 'There is no such installation.' })
  return installation
}
