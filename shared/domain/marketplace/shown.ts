import { type App, AppEntity, type ListedApp } from '../../entities/apps.ts'
import { type Developer, DeveloperEntity } from '../../entities/developers.ts'
import { type ReviewTotals, ReviewTotalsEntity } from '../../entities/reviews.ts'
import { iso } from '../../kernel/clock.ts'
import type { Page } from '../../table/table.ts'
import { installedHere } from '../consents/installed.ts'
import type { Deps } from '../deps.ts'
import { presentHere, presentShown } from './present.ts'
import type { MarketplaceAppView } from './schemas.ts'

/** A page of listed apps as the people of a workspace see them: records of all of them in a few batches. */
export const showListed = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  { items, next }: Page<ListedApp>,
): Promise<Page<MarketplaceAppView>> => {
  const ids = items.map(({ app_id }) => app_id)
  const [records, here] = await Promise.all([
    table.getAll(
      ids.flatMap((id) => [
        { entity: AppEntity, key: AppEntity.key({ id }) },
        { entity: ReviewTotalsEntity, key: ReviewTotalsEntity.key({ app_id: id }) },
      ]),
    ),
    installedHere({ table }, workspaceId, ids),
  ])
  const apps = ids.map((_, i) => records[2 * i] as App | undefined)
  const developers = (await table.getAll(
    apps.map((app) => ({ entity: DeveloperEntity, key: DeveloperEntity.key({ id: app?.developer_id ?? '-' }) })),
  )) as (Developer | undefined)[]
  const shown = items.flatMap((listed, i): MarketplaceAppView[] => {
    const app = apps[i]
    // Suspended between the two reads.
    if (app?.status !== 'approved') return []
    const developer = developers[i]
    return [
      {
        ...presentShown(
          app,
          developer?.company ?? developer?.name ?? '',
          records[2 * i + 1] as ReviewTotals | undefined,
        ),
        featured: listed.featured_at !== undefined,
        version: app.promoted_version ?? null,
        installation: presentHere(app, here.get(app.id)),
        listed_at: iso(listed.listed_at),
      },
    ]
  })
  return { items: shown, next }
}
