import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { type AuditEntry, auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { emitInstallationEvent } from './emit.ts'
import { type Installation, InstallationEntity, installationsBy, RemovalEntity } from './entity.ts'
import { installationNotFound } from './read.ts'

/** Actor who uninstalls an app. */
export type Remover = AuditEntry['actor']

/**
 * Uninstalls an app in one transaction, at any time. From then on its tokens are refused, it gets no work, no webhook but the
 * one that tells it, and
 * approved calls aren't executed, because each of those reads the installation first. Its settings are erased. Work in
 * progress is ended right afterwards ({@link endRemovedInstallation}). Runs, tasks, conversations and audit entries stay.
 *
 *     active, suspended ──remove──► revoked, permanently; a new installation is suspended if this one was
 *
 * @throws `not_found` also for another workspace's installation and for an app that was uninstalled already
 */
export const removeInstallation = (work: Work, by: Remover, workspaceId: string, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const [installation, workspace] = await work.table.getAll([
      InstallationEntity.ref({ workspace_id: workspaceId, id }),
      WorkspaceEntity.ref({ id: workspaceId }),
    ] as const)
    if (!installation || installation.status === 'revoked') throw installationNotFound()
    await work.commit([...removalWrites(work, by, installation), ...unsetPrimaryWrites(workspace, id)])
  })

/** Writes that return the main chat to the platform's own orchestrator. */
export const unsetPrimaryWrites = (workspace: Workspace | undefined, installationId: string): Write[] =>
  workspace?.primary_installation_id === installationId
    ? [
        WorkspaceEntity.update(
          workspace,
          { set: { primary_installation_id: undefined } },
          { where: { primary_installation_id: installationId } },
        ),
      ]
    : []

/** Writes of {@link removeInstallation}, for callers that add to them. The first fails if the status changed. */
export const removalWrites = (work: Work, by: Remover, installation: Installation): Write[] => {
  const now = work.clock.now()
  const { id, workspace_id, app_id, version, status } = installation
  const revoked = { status: 'revoked' as const, revoked_at: now, updated_at: now }
  return [
    InstallationEntity.update(
      installation,
      { set: { ...revoked, settings: undefined, settings_set: undefined, settings_secret: undefined } },
      { where: { status } },
    ),
    ...(status === 'revoked' ? [] : [totalWrite(installationsBy(status), id, -1)]),
    RemovalEntity.create({
      installation_id: id,
      workspace_id,
      app_id,
      by: { type: by.type, id: by.id },
      created_at: now,
      due_at: now + MINUTE,
    }),
    emitInstallationEvent(work, 'installation.removed', { ...installation, ...revoked }, { isLast: true }),
    auditEntry(work, {
      scope: workspace_id,
      action: 'installation.removed',
      actor: by,
      target: { type: 'installation', id },
      details: { app_id, version },
    }),
  ]
}
