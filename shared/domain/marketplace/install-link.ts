import { type App, AppEntity, type Version, VersionEntity } from '../../entities/apps.ts'
import { ClaimEntity, DeveloperEntity } from '../../entities/developers.ts'
import type { Installation } from '../../entities/installations.ts'
import { ReviewTotalsEntity } from '../../entities/reviews.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { covers, isScope } from '../../kernel/scopes.ts'
import { installedHere } from '../consents/installed.ts'
import { blockedBy } from '../consents/permitted.ts'
import type { Deps } from '../deps.ts'
import { presentScope } from '../oauth/scopes.ts'
import type { Belonging } from '../people/memberships.ts'
import { loadManifest } from '../versions/manifest.ts'
import { needsOAuth, presentHere, presentShown } from './present.ts'
import type { InstallBlock, InstallLinkView } from './schemas.ts'

/**
 * `GET /console/install/{slug}`: all that a person sees before they install an app, and whether they may. Customers meet an
 * app once it is approved; before that its developer does, in their sandbox workspace. What is installed here is shown
 * whatever became of its app.
 * @throws `not_found`
 */
export const installLink = async (
  deps: Pick<Deps, 'table' | 'objects' | 'settings'>,
  belonging: Belonging,
  slug: string,
): Promise<InstallLinkView> => {
  const { table } = deps
  const claim = await table.get(ClaimEntity, { kind: 'slug', value: slug })
  if (!claim) throw noApp()
  const [[app, totals], here] = await Promise.all([
    table.getAll([
      { entity: AppEntity, key: AppEntity.key({ id: claim.owner_id }) },
      { entity: ReviewTotalsEntity, key: ReviewTotalsEntity.key({ app_id: claim.owner_id }) },
    ] as const),
    installedHere(deps, belonging.workspace.id, [claim.owner_id]),
  ])
  const installation = here.get(claim.owner_id)
  if (!app || !isMet(app, belonging, installation)) throw noApp()
  const [developer, version] = await Promise.all([
    table.get(DeveloperEntity, { id: app.developer_id }),
    versionToInstall(deps, app, belonging),
  ])
  const blocked_by = blockOf(app, version, belonging, installation)
  return {
    app: {
      ...presentShown(app, developer?.company ?? developer?.name ?? '', totals),
      description: app.description,
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
    config: (version && (await loadManifest(deps, version)).config) ?? null,
    installation: presentHere(app, installation),
    can_install: blocked_by === null,
    blocked_by,
  }
}

const noApp = (): PlatformError => fail('not_found', { message: 'There is no app with this slug.' })

const isMet = (app: App, { workspace }: Belonging, installation: Installation | undefined): boolean =>
  app.status === 'approved' ||
  installation !== undefined ||
  (workspace.is_sandbox && workspace.developer_id === app.developer_id)

const versionToInstall = async (
  { table }: Pick<Deps, 'table'>,
  app: App,
  { workspace }: Belonging,
): Promise<Version | undefined> => {
  const id = app.promoted_version_id ?? (workspace.is_sandbox ? app.newest_version_id : undefined)
  return id === undefined ? undefined : table.get(VersionEntity, { app_id: app.id, id })
}

/** Why `POST /console/installations` with all scopes would be refused; null when it would not. */
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
