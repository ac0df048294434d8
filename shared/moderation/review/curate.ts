import { type App, AppEntity, listingWrites, readListing } from '#shared/catalogue/apps/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { appStateConflict, presentModeratedApp } from './decide.ts'
import type { CuratedAppView } from './schemas.ts'

/**
 * Handles `POST /admin/apps/{id}/curation`. A featured app keeps its place among the featured apps.
 * @throws `not_found`; `conflict` for an app that the marketplace does not show
 */
export const curateApp = (
  work: Work,
  moderator: Moderator,
  id: string,
  { featured, category: wanted }: { featured: boolean; category?: string | undefined },
): Promise<CuratedAppView> =>
  retryOnConflict(async () => {
    const app = await work.table.get(AppEntity, { id })
    if (!app) throw fail('not_found', { message: 'App not found.' })
    const { listed, developerName } = await readListing(work, app)
    if (app.status !== 'approved' || !listed)
      throw appStateConflict(app, 'Only an app in the marketplace can be curated.')
    const { name, summary, status } = app
    const now = work.clock.now()
    const category = wanted ?? app.category
    const moves = category !== app.category
    const curated: App = moves ? { ...app, category, updated_at: now } : app
    const where = { status, name, summary, category: app.category ?? missing }
    const featured_at = featured ? (listed.featured_at ?? now) : undefined
    const view = presentCurated(curated, featured_at)
    await work.commit(
      [
        // The fields that place it in lists must be unchanged since they were read. Featuring an app changes nothing
        // else in it.
        moves
          ? AppEntity.update({ id }, { set: { category, updated_at: now } }, { where })
          : AppEntity.check({ id }, { where }),
        ...(await listingWrites(listed, { app: curated, developerName, listed_at: listed.listed_at, featured_at })),
        auditAdmin(
          work,
          moderator,
          'app.curated',
          { type: 'app', id },
          {
            before: { featured: listed.featured_at !== undefined, category: app.category ?? null },
            after: { featured, category: category ?? null },
          },
        ),
      ],
      view,
    )
    return view
  })

const presentCurated = (app: App, featuredAt: number | undefined): CuratedAppView => ({
  ...presentModeratedApp(app),
  featured: featuredAt !== undefined,
  featured_at: featuredAt === undefined ? null : iso(featuredAt),
})
