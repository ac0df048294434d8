import { type Installation, InstallationEntity, installationsBy, RemovalEntity } from '../../entities/installations.ts'
import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import type { AuditEntry } from '../../entities/platform.ts'
import { MINUTE } from '../../kernel/clock.ts'
import type { Write } from '../../table/entity.ts'
import { auditEntry } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { counted } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import { noInstallation } from './read.ts'
import { tellInstallation } from './tell.ts'

/** Who uninstalls. */
export type Remover = AuditEntry['actor']

/**
 * Uninstalls an app, in one transaction, whatever it is doing: from then on its tokens are refused, nothing is handed to it,
 * no webhook goes out and no approved call is executed, because each of those reads the installation first. Its settings
 * are erased. What it had under way is ended right afterwards ({@link endRemoved}); its runs, tasks, conversations and the
 * audit stay.
 *
 *     active, suspended ──remove──► revoked, for ever: installing again makes a new one, which is suspended if this one was
 *
 * @throws `not_found` also for another workspace's, and for what was uninstalled already
 */
export const removeInstallation = (work: Work, by: Remover, workspaceId: string, id: string): Promise<void> =>
  tryAgain(async () => {
    const [installation, workspace] = await work.table.getAll([
      { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id: workspaceId, id }) },
      { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspaceId }) },
    ] as const)
    if (!installation || installation.status === 'revoked') throw noInstallation()
    await work.commit([...removalWrites(work, by, installation), ...noLongerPrimary(workspace, id)])
  })

/** The main chat goes back to the platform’s own orchestrator. */
export const noLongerPrimary = (workspace: Workspace | undefined, installationId: string): Write[] =>
  workspace?.primary_installation_id === installationId
    ? [
        WorkspaceEntity.update(
          workspace,
          { set: { primary_installation_id: undefined } },
          { where: { primary_installation_id: installationId } },
        ),
      ]
    : []

/** The writes of {@link removeInstallation}, for whoever does more with it. The first fails if its status changed. */
export const removalWrites = (work: Work, by: Remover, installation: Installation): Write[] => {
  const now = work.clock.now()
  const { id, workspace_id, app_id, version, status } = installation
  const gone = { status: 'revoked' as const, revoked_at: now, updated_at: now }
  return [
    InstallationEntity.update(
      installation,
      { set: { ...gone, settings: undefined, settings_set: undefined, settings_secret: undefined } },
      { where: { status } },
    ),
    ...(status === 'revoked' ? [] : [counted(installationsBy(status), id, -1)]),
    RemovalEntity.create({
      installation_id: id,
      workspace_id,
      app_id,
      by: { type: by.type, id: by.id },
      created_at: now,
      due_at: now + MINUTE,
    }),
    tellInstallation(work, 'installation.removed', { ...installation, ...gone }),
    auditEntry(work, {
      scope: workspace_id,
      action: 'installation.removed',
      actor: by,
      target: { type: 'installation', id },
      details: { app_id, version },
    }),
  ]
}
