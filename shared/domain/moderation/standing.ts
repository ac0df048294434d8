import { APP_STATUSES, type App } from '../../entities/apps.ts'
import { AppStandingEntity, appsBy } from '../../entities/moderation.ts'
import type { ItemOf, Write } from '../../table/entity.ts'
import { counted, movedBetween } from '../totals.ts'

/** An app's place among those of its status, as it is stored. */
export type Standing = ItemOf<typeof AppStandingEntity>

const TYPES = ['agent', 'integration'] as const

/** The lists of apps of a status and a type, or of all; by them they are counted too. */
export const standingLists = (status: App['status'] | undefined, type: App['type'] | undefined): string[] =>
  (status === undefined ? APP_STATUSES : [status]).flatMap((one) =>
    (type === undefined ? TYPES : [type]).map((other) => appsBy(one, other)),
  )

/**
 * The writes that put an app where staff finds it by its status, for the transaction that sets the status.
 * @param was its place as it was read; undefined for a new app
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
    ...(from === undefined ? [counted(to, app_id, 1)] : movedBetween(from, to, app_id)),
  ]
}
