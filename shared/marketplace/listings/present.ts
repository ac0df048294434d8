import { canUpgrade, type Installation } from '#shared/access/installations/index.ts'
import type { App } from '#shared/catalogue/apps/index.ts'
import { logoPath } from '#shared/catalogue/logos/index.ts'
import type { ReviewTotals } from '../reviews/entity.ts'
import { presentTotals } from '../reviews/schemas.ts'
import type { InstallLinkView, MarketplaceAppView } from './schemas.ts'

/** Reports whether the app asks for consent itself: an integration with a redirect address does. */
export const needsOAuth = ({ type, redirect_uris }: Pick<App, 'type' | 'redirect_uris'>): boolean =>
  type === 'integration' && redirect_uris.length > 0

/** Fields of an app that every screen of the marketplace shows. */
export const presentAppSummary = (
  app: App,
  developerName: string,
  totals: ReviewTotals | undefined,
): Pick<MarketplaceAppView, keyof MarketplaceAppView & keyof InstallLinkView['app']> => {
  const { average, count } = presentTotals(totals, undefined)
  return {
    id: app.id,
    slug: app.slug,
    name: app.name,
    type: app.type,
    summary: app.summary,
    category: app.category ?? null,
    logo_url: app.logo_url ?? null,
    logo_path: logoPath(app),
    verified: app.verified,
    developer_id: app.developer_id,
    developer_name: developerName,
    similar_to: app.similar_to ?? [],
    rating: { average, count },
    needs_oauth: needsOAuth(app),
    install_url: app.install_url ?? null,
  }
}

/** Presents the app's installation in the caller's workspace; null if it was uninstalled. */
export const presentInstallationHere = (
  app: App,
  installation: Installation | undefined,
): MarketplaceAppView['installation'] =>
  installation === undefined || installation.status === 'revoked'
    ? null
    : {
        id: installation.id,
        status: installation.status,
        access_withdrawn: installation.withdrawn_at !== undefined,
        version: installation.version,
        upgrade_available: canUpgrade(app, installation),
      }
