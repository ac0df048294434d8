import {
  type Installation,
  InstallationEntity,
  removalWrites,
  unsetPrimaryWrites,
} from '#shared/access/installations/index.ts'
import {
  type App,
  AppEntity,
  AppStandingEntity,
  appsBy,
  DeveloperAppEntity,
  loadOwnApp,
  logoChangeWrites,
} from '#shared/catalogue/apps/index.ts'
import { VersionEntity, VersionNameEntity } from '#shared/catalogue/versions/index.ts'
import { ClaimEntity, CounterEntity } from '#shared/foundation/claims/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'

/** Sandboxes that one deletion uninstalls the app from. */
const MOST_SANDBOXES = 5
const PAGE = 25

/**
 * Deletes a draft that was never submitted (`DELETE /api/v1/dev/apps/{id}`): the app with its secrets, versions and place
 * among the developer's apps. Its slug is free again. The sandboxes that have it installed lose it as by uninstalling:
 * their runs stay, and tokens end at once.
 * @throws `not_found`; `conflict` for an app in another status, because customers or moderators may know it
 */
export const deleteDraft = async (work: Work, developerId: string, appId: string): Promise<void> => {
  await retryOnConflict(async () => {
    const app = await loadOwnApp(work, developerId, appId)
    if (app.status !== 'draft' || app.approved_at !== undefined || app.submitted_at !== undefined) throw notADraft(app)
    const [standing, installed] = await Promise.all([
      work.table.get(AppStandingEntity, { app_id: appId }),
      listInstalled(work, appId),
    ])
    const ends = await Promise.all(installed.map((one) => uninstallWrites(work, developerId, one)))
    await work.commit([
      AppEntity.delete(
        { id: appId },
        {
          where: { developer_id: developerId, status: 'draft', submitted_at: missing },
          otherwise: () => notADraft(app),
        },
      ),
      DeveloperAppEntity.delete({ developer_id: developerId, app_id: appId }),
      ClaimEntity.delete({ kind: 'slug', value: app.slug }, { where: { owner_id: appId } }),
      CounterEntity.update({ owner: developerId, counter: 'apps' }, { add: { n: -1 } }),
      ...(standing
        ? [AppStandingEntity.delete({ app_id: appId }), totalWrite(appsBy(app.status, app.type), appId, -1)]
        : []),
      ...(await logoChangeWrites(work, app, { id: appId })),
      ...ends.flat(),
      auditDeveloper(work, developerId, 'app.deleted', { type: 'app', id: appId }, { slug: app.slug }),
    ])
  })
  await deleteVersions(work, appId)
}

const listInstalled = async ({ table }: Work, appId: string): Promise<Installation[]> => {
  const { items } = await table.listed(InstallationEntity, `APP#${appId}#INSTALLATIONS`, { limit: PAGE })
  const active = items.filter(({ status }) => status !== 'revoked')
  if (active.length <= MOST_SANDBOXES) return active
  throw fail('conflict', {
    message: `The app is installed in more than ${MOST_SANDBOXES} sandboxes.`,
    fix: 'Uninstall it there first.',
  })
}

const uninstallWrites = async (work: Work, developerId: string, installation: Installation): Promise<Write[]> => {
  const workspace = await work.table.get(WorkspaceEntity, { id: installation.workspace_id })
  return [
    ...removalWrites(work, { type: 'developer', id: developerId }, installation),
    ...unsetPrimaryWrites(workspace, installation.id),
  ]
}

/** Deletes the versions with their manifests. Without their app, nothing leads to them. */
const deleteVersions = async (work: Work, app_id: string): Promise<void> => {
  for (;;) {
    const { items } = await work.table.query(VersionEntity, { app_id }, { limit: PAGE })
    if (items.length === 0) return
    for (const { manifest } of items) if ('object' in manifest) await work.objects.delete(manifest.object)
    await work.table.transact(
      items.flatMap(({ id, version }) => [
        VersionEntity.delete({ app_id, id }),
        VersionNameEntity.delete({ app_id, version }),
      ]),
    )
  }
}

const notADraft = ({ status }: App): PlatformError =>
  fail('conflict', {
    message: `Only a draft that was never submitted can be deleted. The app is ${status.replace('_', ' ')}.`,
    fix: 'Keep the app, or ask platform support to delist it.',
  })
