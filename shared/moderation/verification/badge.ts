import { AppEntity, loadOwnApps } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { type Developer, DeveloperEntity } from '#shared/identity/developers/index.ts'
import { placeOfDeveloper, rosterWrites } from '#shared/staff/roster/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'

/**
 * Returns the writes that give or remove a developer's verified badge, for the account and each of its apps. If an app is
 * created at the same moment, the transaction fails and must be retried.
 * @param developer as it was read
 */
export const badgeWrites = async (
  deps: Pick<Deps, 'table'>,
  developer: Developer,
  verified: boolean,
): Promise<Write[]> => {
  const { id, status, name, company, email } = developer
  const { apps, check } = await loadOwnApps(deps, id)
  return [
    DeveloperEntity.update(
      { id },
      { set: { verified } },
      { where: { verified: developer.verified, status, name, email, company: company ?? missing } },
    ),
    ...rosterWrites(placeOfDeveloper(developer), placeOfDeveloper({ ...developer, verified })),
    check,
    // An app whose pending revision changes its name, logo or domain gets the badge with the decision.
    ...apps.map(({ id: app_id, badge_withheld }) =>
      AppEntity.update(
        { id: app_id },
        { set: { verified: verified && badge_withheld !== true } },
        { where: { badge_withheld: badge_withheld ?? missing } },
      ),
    ),
  ]
}
