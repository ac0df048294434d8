import { totalMoveWrites, totalWrite } from '#shared/foundation/totals/index.ts'
import type { ItemOf, Write } from '#shared/table/entity.ts'
import { APP_STATUSES, type App, AppStandingEntity, appsBy } from './entity.ts'

/** Stored place of an app in the lists by status. */
export type Standing = ItemOf<typeof AppStandingEntity>

const TYPES = ['agent', 'integration'] as const

/** Returns the lists of apps of a status and type, or of all statuses or types. Apps are counted by these lists too. */
export const standingLists = (status: App['status'] | undefined, type: App['type'] | undefined): string[] =>
  (status === undefined ? APP_STATUSES : [status]).flatMap((eachStatus) =>
    (type === undefined ? TYPES : [type]).map((eachType) => appsBy(eachStatus, eachType)),
  )

/**
 * Returns the writes that move an app to the list of its status, for the transaction that sets the status.
 * @param was the stored place, or undefined for a new app
 */
export const standingWrites = (
  was: Standing | undefined,
  { id: app_id, status, type }: Pick<App, 'id' | 'status' | 'type'>,
): Write[] => {
  const to = appsBy(status, type)
  const from = was && appsBy(was.status, was.type)
  if (from === to) return []
  return [
    AppStandingEntity.replace({ app_id, status, type }),
    ...(from === undefined ? [totalWrite(to, app_id, 1)] : totalMoveWrites(from, to, app_id)),
  ]
}
