import { AppEntity, DeveloperAppEntity } from '../../entities/apps.ts'
import { CounterEntity, type Developer, DeveloperEntity } from '../../entities/developers.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'
import { placeOfDeveloper, rosterWrites } from '../roster/places.ts'

/**
 * The writes that give a developer the verified badge, or take it away: with the account each of its at most 20 apps shows it,
 * in the same transaction. One that is created at this moment makes it fail, to be tried again.
 * @param developer as it was read
 */
export const badgeWrites = async (
  { table }: Pick<Deps, 'table'>,
  developer: Developer,
  verified: boolean,
): Promise<Write[]> => {
  const { id, status, name, company, email } = developer
  const counter = { owner: id, counter: 'apps' }
  // Counted before they are listed: an app that comes to be between the two is more than was counted, not one that was missed.
  const count = await table.get(CounterEntity, counter)
  const { items } = await table.query(DeveloperAppEntity, { developer_id: id }, { limit: LIMITS.appsPerDeveloper })
  return [
    DeveloperEntity.update(
      { id },
      { set: { verified } },
      { where: { verified: developer.verified, status, name, email, company: company ?? missing } },
    ),
    ...rosterWrites(placeOfDeveloper(developer), placeOfDeveloper({ ...developer, verified })),
    // No app may come to be that does not know of it.
    count
      ? CounterEntity.check(counter, { where: { n: count.n } })
      : CounterEntity.upsert(counter, { set: counter, add: { n: 0 } }, { where: { n: missing } }),
    ...items.map(({ app_id }) => AppEntity.update({ id: app_id }, { set: { verified } })),
  ]
}
