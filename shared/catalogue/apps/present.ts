import { iso } from '#shared/kernel/clock.ts'
import { logoPath } from '../logos/path.ts'
import type { App, AppRevision } from './entity.ts'
import { withRevision } from './revise.ts'
import type { AppView } from './schemas.ts'
import { presentScreenshots } from './screenshots.ts'

const time = (ms: number | undefined): string | null => (ms === undefined ? null : iso(ms))

const presentChanges = (
  appId: string,
  { screenshots, ...changes }: AppRevision['changes'],
): NonNullable<AppView['pending_revision']>['changes'] => ({
  ...changes,
  ...(screenshots && { screenshots: presentScreenshots(appId, screenshots) }),
})

/** Returns an app as its developer sees it. */
export const presentApp = (app: App): AppView => ({
  id: app.id,
  slug: app.slug,
  type: app.type,
  name: app.name,
  summary: app.summary,
  description: app.description,
  category: app.category ?? null,
  logo_url: app.logo_url ?? null,
  logo_path: logoPath(app),
  privacy_url: app.privacy_url ?? null,
  homepage_url: app.homepage_url ?? null,
  install_url: app.install_url ?? null,
  support_email: app.support_email ?? null,
  redirect_uris: app.redirect_uris,
  requested_scopes: app.requested_scopes,
  screenshots: presentScreenshots(app.id, app.screenshots),
  jwks: app.jwks ?? null,
  status: app.status,
  status_reason: app.status_reason ?? null,
  verified: app.verified,
  pending_revision: app.pending_revision
    ? {
        id: app.pending_revision.id,
        changes: presentChanges(app.id, app.pending_revision.changes),
        logo_path: app.pending_revision.changes.logo_url === undefined ? null : logoPath(withRevision(app)),
        badge_withheld: app.badge_withheld ?? false,
        submitted_at: iso(app.pending_revision.submitted_at),
      }
    : null,
  client_id: app.id,
  promoted_version: app.promoted_version ?? null,
  test_run_at: time(app.test_run_at),
  submitted_at: time(app.submitted_at),
  approved_at: time(app.approved_at),
  created_at: iso(app.created_at),
  updated_at: iso(app.updated_at),
})
