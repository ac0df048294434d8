import { type App, AppEntity } from '../../entities/apps.ts'
import { iso } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { missing } from '../../table/expressions.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { listingWrites, readListing } from '../marketplace/list-app.ts'
import { tryAgain } from '../try-again.ts'
import { presentModerated, wrongState } from './decide.ts'
import type { CuratedAppView } from './schemas.ts'

/**
 * `POST /admin/apps/{id}/curation`. An app that is featured already keeps its place among the featured.
 * @throws `not_found`; `conflict` for an app that the marketplace does not show
 */
export const curateApp = (
  work: Work,
  moderator: Moderator,
  id: string,
  { featured, category: wanted }: { featured: boolean; category?: string | undefined },
): Promise<CuratedAppView> =>
  tryAgain(async () => {
    const app = await work.table.get(AppEntity, { id })
    if (!app) throw fail('not_found', { message: 'There is no such app.' })
    const { listed, developerName } = await readListing(work, app)
    if (app.status !== 'approved' || !listed) throw wrongState(app, 'Only an app in the marketplace can be curated.')
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
        // What it is listed by must be what was read; to be featured changes nothing of the app itself.
        moves
          ? AppEntity.update({ id }, { set: { category, updated_at: now } }, { where })
          : AppEntity.check({ id }, { where }),
        ...listingWrites(listed, { app: curated, developerName, listed_at: listed.listed_at, featured_at }),
        auditStaff(
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
  ...presentModerated(app),
  featured: featuredAt !== undefined,
  featured_at: featuredAt === undefined ? null : iso(featuredAt),
})
