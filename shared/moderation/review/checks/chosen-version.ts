import type { App } from '#shared/catalogue/apps/index.ts'
import { ReviewItemEntity } from '#shared/catalogue/review-queue/index.ts'
import { type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'

/**
 * Returns the version that a moderator examines: the requested one, else the one waiting for review, else the promoted
 * one, else the newest.
 * @throws `not_found` for a version of another app; `no_manifest`
 */
export const loadChosenVersion = async (
  { table }: Pick<Deps, 'table'>,
  app: App,
  wanted: string | undefined,
): Promise<Version> => {
  const id = wanted ?? (await waitingVersion({ table }, app)) ?? app.promoted_version_id ?? app.newest_version_id
  if (id === undefined) throw fail('no_manifest', { message: 'The app has no published version.' })
  const version = await table.get(VersionEntity, { app_id: app.id, id })
  if (!version) throw fail('not_found', { message: 'The app has no such version.' })
  return version
}

/** Returns the version that has waited longest, or undefined while the app itself waits. */
const waitingVersion = async ({ table }: Pick<Deps, 'table'>, app: App): Promise<string | undefined> => {
  if (app.status === 'in_review') return undefined
  const { items } = await table.query(ReviewItemEntity, { app_id: app.id }, { limit: 1, ascending: true })
  return items[0]?.kind === 'version' ? items[0].subject : undefined
}
