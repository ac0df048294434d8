import { type App, type Version, VersionEntity } from '../../../entities/apps.ts'
import { ReviewItemEntity } from '../../../entities/review-queue.ts'
import { fail } from '../../../kernel/errors.ts'
import type { Deps } from '../../deps.ts'

/**
 * The version that a moderator looks at: the one asked for, or what waits, or what is promoted, or the newest.
 * @throws `not_found` for a version of another app; `no_manifest`
 */
export const chosenVersion = async (
  { table }: Pick<Deps, 'table'>,
  app: App,
  wanted: string | undefined,
): Promise<Version> => {
  const id = wanted ?? (await waitingVersion({ table }, app)) ?? app.promoted_version_id ?? app.newest_version_id
  if (id === undefined) throw fail('no_manifest', { message: 'The app has published no version.' })
  const version = await table.get(VersionEntity, { app_id: app.id, id })
  if (!version) throw fail('not_found', { message: 'The app has no such version.' })
  return version
}

/** The version that waits longest; none while the app itself waits. */
const waitingVersion = async ({ table }: Pick<Deps, 'table'>, app: App): Promise<string | undefined> => {
  if (app.status === 'in_review') return undefined
  const { items } = await table.query(ReviewItemEntity, { app_id: app.id }, { limit: 1, ascending: true })
  return items[0]?.kind === 'version' ? items[0].subject : undefined
}
