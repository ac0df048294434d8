import { blockedBy, type Installation, loadInstallationsByApp } from '#shared/access/installations/index.ts'
import { type App, AppEntity, presentScreenshots } from '#shared/catalogue/apps/index.ts'
import { loadManifest, type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { presentScope } from '#shared/foundation/schemas/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import type { Belonging } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { covers, isScope } from '#shared/kernel/scopes.ts'
import { ReviewTotalsEntity } from '../reviews/entity.ts'
import { needsOAuth, presentAppSummary, presentInstallationHere } from './present.ts'
import type { InstallBlock, InstallLinkView } from './schemas.ts'

/**
 * Handles `GET /console/install/{slug}`: returns what a person sees before they install an app, and whether they may.
 * Customers see an app once it is approved. Before that its developer sees it, in their sandbox workspace. An installed
 * app is always shown.
 * @throws `not_found`
 */
export const loadInstallLink = async (
  deps: Pick<Deps, 'table' | 'objects' | 'settings'>,
  belonging: Belonging,
  slug: string,
): Promise<InstallLinkView> => {
  const { table } = deps
  const claim = await table.get(ClaimEntity, { kind: 'slug', value: slug })
  if (!claim) throw noApp()
  const [[app, totals], here] = await Promise.all([
    table.getAll([AppEntity.ref({ id: claim.owner_id }), ReviewTotalsEntity.ref({ app_id: claim.owner_id })] as const),
    loadInstallationsByApp(deps, belonging.workspace.id, [claim.owner_id]),
  ])
  const installation = here.get(claim.owner_id)
  if (!app || !isVisible(app, belonging, installation)) throw noApp()
  const [developer, version] = await Promise.all([
    table.get(DeveloperEntity, { id: app.developer_id }),
    loadVersionToInstall(deps, app, belonging),
  ])
  const manifest = version && (await loadManifest(deps, version))
  const blocked_by = blockOf(app, version, belonging, installation)
  return {
    app: {
      ...presentAppSummary(app, developer?.company ?? developer?.name ?? '', totals),
      description: app.description,
      screenshots: presentScreenshots(app.id, app.screenshots),
      privacy_url: app.privacy_url ?? null,
      homepage_url: app.homepage_url ?? null,
      support_email: app.support_email ?? null,
    },
    agent: version ? { id: version.agent_id, version: version.version } : null,
    scopes: app.requested_scopes.filter(isScope).map((scope) => ({
      ...presentScope(scope),
      denied: belonging.workspace.denied_scopes.includes(scope),
      granted: installation !== undefined && covers(installation.scopes, scope),
    })),
    authorize: needsOAuth(app)
      ? {
          url: `${deps.settings.baseUrl}/oauth/authorize`,
          client_id: app.id,
          scope: app.requested_scopes.join(' '),
          redirect_uris: app.redirect_uris,
        }
      : null,
    config: manifest?.config ?? null,
    schedules: manifest?.schedules ?? [],
    installation: presentInstallationHere(app, installation),
    can_install: blocked_by === null,
    blocked_by,
  }
}

const noApp = (): PlatformError => fail('not_found', { message: 'No app has this slug.' })

const isVisible = (app: App, { workspace }: Belonging, installation: Installation | undefined): boolean =>
  app.status === 'approved' ||
  installation !== undefined ||
  (workspace.is_sandbox && workspace.developer_id === app.developer_id)

const loadVersionToInstall = async (
  { table }: Pick<Deps, 'table'>,
  app: App,
  { workspace }: Belonging,
): Promise<Version | undefined> => {
  const id = app.promoted_version_id ?? (workspace.is_sandbox ? app.newest_version_id : undefined)
  return id === undefined ? undefined : table.get(VersionEntity, { app_id: app.id, id })
}

/** Returns the reason that `POST /console/installations` with all scopes would be refused; null if it would succeed. */
const blockOf = (
  app: App,
  version: Version | undefined,
  belonging: Belonging,
  installation: Installation | undefined,
): InstallBlock | null => {
  if (app.status === 'suspended') return 'app_suspended'
  if (installation?.status === 'suspended') return 'installation_suspended'
  const block = blockedBy(app, belonging, installation !== undefined)
  if (block) return block
  if (app.requested_scopes.some((scope) => belonging.workspace.denied_scopes.includes(scope)))
    return 'scope_denied_by_admin'
  return version ? null : 'no_manifest'
}
