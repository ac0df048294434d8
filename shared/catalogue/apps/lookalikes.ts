import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { looksOf } from '#shared/kernel/looks.ts'
import { type App, AppEntity, ListingPlaceEntity } from './entity.ts'
import { lookShelf } from './places.ts'
import { ORCHESTRATOR_SLUG } from './reserved.ts'

type Reading = Pick<Deps, 'table'>

/** Listed app of another developer with a confusable name. */
export type Lookalike = NonNullable<App['similar_to']>[number]

/** Most lookalikes that are read. A name that this many apps share needs no more evidence. */
const MOST = 10

/**
 * Finds the listed apps of other developers whose names a reader could confuse with a name, identical ones included
 * (contract/moderation.md#similar-names).
 */
export const findLookalikes = async (
  { table }: Reading,
  { id, developer_id, name }: Pick<App, 'developer_id' | 'name'> & { id?: string | undefined },
): Promise<Lookalike[]> => {
  const pages = await Promise.all(
    (await looksOf(name)).map((look) => table.query(ListingPlaceEntity, { shelf: lookShelf(look) }, { limit: MOST })),
  )
  const ids = [...new Set(pages.flatMap(({ items }) => items.map(({ app_id }) => app_id)))].filter((one) => one !== id)
  const apps = (await table.getAll(ids.map((one) => AppEntity.ref({ id: one })))).filter(
    (app) => app?.status === 'approved' && app.developer_id !== developer_id,
  ) as App[]
  const developers = await table.getAll(apps.map((app) => DeveloperEntity.ref({ id: app.developer_id })))
  return apps.map((app, i) => ({
    app_id: app.id,
    slug: app.slug,
    name: app.name,
    developer_name: developers[i]?.company ?? developers[i]?.name ?? '',
  }))
}

/**
 * Refuses a name that is another app's slug, because agents address each other by slug and by name.
 * @param slug the app's own slug
 * @throws `validation_error`
 */
export const refuseSlugAsName = async ({ table }: Reading, slug: string, name: string | undefined): Promise<void> => {
  const value = name?.toLowerCase()
  if (value === undefined || value === slug || !/^[a-z0-9-]{3,40}$/.test(value)) return
  if (value !== ORCHESTRATOR_SLUG && !(await table.get(ClaimEntity, { kind: 'slug', value }))) return
  throw fail('validation_error', {
    message: `The name ${JSON.stringify(name)} is the slug of another app.`,
    fix: 'Choose another name.',
    details: { fields: { name: ['must not be the slug of another app'] } },
  })
}

/**
 * Refuses a slug that is the name of another developer's listed app.
 * @throws `slug_taken`
 */
export const refuseNameAsSlug = async (deps: Reading, developer_id: string, slug: string): Promise<void> => {
  const named = (await findLookalikes(deps, { developer_id, name: slug })).find(
    ({ name }) => name.toLowerCase() === slug,
  )
  if (named) throw fail('slug_taken', { message: `The slug ${slug} is the name of another developer’s app.` })
}
