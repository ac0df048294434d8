import type { App } from '../../entities/apps.ts'
import type { Installation } from '../../entities/installations.ts'
import type { ReviewTotals } from '../../entities/reviews.ts'
import { presentTotals } from '../reviews/schemas.ts'
import type { InstallLinkView, MarketplaceAppView } from './schemas.ts'

/** An app that has where to send people back to, and is there to connect something, asks for consent itself. */
export const needsOAuth = ({ type, redirect_uris }: Pick<App, 'type' | 'redirect_uris'>): boolean =>
  type === 'integration' && redirect_uris.length > 0

/** What every screen of the marketplace shows of an app. */
export const presentShown = (
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
    verified: app.verified,
    developer_name: developerName,
    rating: { average, count },
    needs_oauth: needsOAuth(app),
    install_url: app.install_url ?? null,
  }
}

/** Its installation in the caller's workspace; null for what was uninstalled. */
export const presentHere = (app: App, installation: Installation | undefined): MarketplaceAppView['installation'] =>
  installation === undefined || installation.status === 'revoked'
    ? null
    : {
        id: installation.id,
        status: installation.status,
        version: installation.version,
        upgrade_available: canUpgrade(app, installation),
      }

/** Is there a version to move to? A suspended app offers none. */
export const canUpgrade = (
  { status, promoted_version_id }: Pick<App, 'status' | 'promoted_version_id'>,
  { version_id }: Pick<Installation, 'version_id'>,
): boolean => status !== 'suspended' && promoted_version_id !== undefined && promoted_version_id !== version_id
