import {
  emitInstallationEvent,
  type Installation,
  InstallationEntity,
  InstallationPlaceEntity,
  installationsBy,
} from '#shared/access/installations/index.ts'
import { totalMoveWrites } from '#shared/foundation/totals/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type ModeratedInstallationView, presentModeratedInstallation, type SetStatusInput } from './schemas.ts'
import { stoppageWrites } from './stoppage-writes.ts'

/**
 * Handles `POST /admin/installations/{id}/status`. An uninstalled app stays uninstalled. An installation cannot be
 * reactivated in a workspace that is not active.
 * @throws `not_found`; `conflict`
 */
export const setInstallationStatus = (
  work: Work,
  moderator: Moderator,
  id: string,
  { status, reason }: SetStatusInput,
): Promise<ModeratedInstallationView> =>
  retryOnConflict(async () => {
    const installation = await findInstallation(work, id)
    const { workspace_id, app_id, status: before } = installation
    if (before === 'revoked') {
      throw fail('conflict', { message: 'The app was uninstalled.', fix: 'Ask the customer to install it again.' })
    }
    if (before === status) {
      throw fail('conflict', { message: `The installation is already ${status}.`, fix: 'No action is needed.' })
    }
    const now = work.clock.now()
    const set = { status, status_reason: status === 'suspended' ? reason : undefined, updated_at: now }
    const after = { ...installation, ...set } as Installation
    const view = presentModeratedInstallation(after)
    await work.commit(
      [
        InstallationEntity.update(installation, { set }, { where: { status: before } }),
        ...totalMoveWrites(installationsBy(before), installationsBy(status), id),
        emitInstallationEvent(work, 'installation.updated', after),
        ...(status === 'suspended'
          ? stoppageWrites(work, { kind: 'installation', id, workspace_id, app_id })
          : [workspaceIsActive(workspace_id)]),
        auditAdmin(
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
          message: 'The installation’s workspace is suspended or being deleted.',
          fix: 'Unsuspend the workspace first with POST /admin/workspaces/{id}/status.',
        }),
    },
  )

/** Finds an installation by its id alone. */
const findInstallation = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Installation> => {
  const place = await table.get(InstallationPlaceEntity, { installation_id: id })
  const installation = place && (await table.get(InstallationEntity, { workspace_id: place.workspace_id, id }))
  if (!installation) throw fail('not_found', { message: 'Installation not found.' })
  return installation
}
