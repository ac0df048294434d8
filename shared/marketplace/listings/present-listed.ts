import { loadInstallationsByApp } from '#shared/access/installations/index.ts'
import { type App, AppEntity, type ListedApp } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { type Developer, DeveloperEntity } from '#shared/identity/developers/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { Page } from '#shared/table/table.ts'
import { type ReviewTotals, ReviewTotalsEntity } from '../reviews/entity.ts'
import { presentAppSummary, presentInstallationHere } from './present.ts'
import type { MarketplaceAppView } from './schemas.ts'

/** Presents a page of listed apps to the people of a workspace. It reads all records in a few batches. */
export const presentListedApps = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  { items, next }: Page<ListedApp>,
): Promise<Page<MarketplaceAppView>> => {
  const ids = items.map(({ app_id }) => app_id)
  const [records, here] = await Promise.all([
    table.getAll(ids.flatMap((id) => [AppEntity.ref({ id }), ReviewTotalsEntity.ref({ app_id: id })])),
    loadInstallationsByApp({ table }, workspaceId, ids),
  ])
  const apps = ids.map((_, i) => records[2 * i] as App | undefined)
  const developers = (await table.getAll(apps.map((app) => DeveloperEntity.ref({ id: app?.developer_id ?? '-' })))) as (
    | Developer
    | undefined
  )[]
  const shown = items.flatMap((listed, i): MarketplaceAppView[] => {
    const app = apps[i]
    // The app was suspended between the two reads, or its developer is blocked.
    if (app?.status !== 'approved' || app.developer_blocked) return []
    const developer = developers[i]
    return [
      {
        ...presentAppSummary(
          app,
          developer?.company ?? developer?.name ?? '',
          records[2 * i + 1] as ReviewTotals | undefined,
        ),
        featured: listed.featured_at !== undefined,
        version: app.promoted_version ?? null,
        installation: presentInstallationHere(app, here.get(app.id)),
        listed_at: iso(listed.listed_at),
      },
    ]
  })
  return { items: shown, next }
}
