import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type App, AppEntity, DeveloperAppEntity } from './entity.ts'

/** A developer's apps, and the check that none was created since. */
export interface OwnApps {
  apps: App[]
  check: Write
}

/**
 * Loads all of a developer's at most 20 apps, for a change of the account that each app copies. One transaction changes
 * all of them. If an app is created at the same moment, the transaction fails and must be retried.
 */
export const loadOwnApps = async ({ table }: Pick<Deps, 'table'>, developer_id: string): Promise<OwnApps> => {
  const counter = { owner: developer_id, counter: 'apps' }
  // The count is read before the list. An app created between the two then exceeds the count instead of being missed.
  const count = await table.get(CounterEntity, counter)
  const { items } = await table.query(DeveloperAppEntity, { developer_id }, { limit: LIMITS.appsPerDeveloper })
  const apps = await table.getAll(items.map(({ app_id }) => AppEntity.ref({ id: app_id })))
  return {
    apps: apps.filter((app): app is App => app !== undefined),
    check: count
      ? CounterEntity.check(counter, { where: { n: count.n } })
      : CounterEntity.upsert(counter, { set: counter, add: { n: 0 } }, { where: { n: missing } }),
  }
}
