import type { Work } from '#shared/foundation/work/index.ts'
import { type User, UserEntity } from './entity.ts'
import { presentUser } from './present.ts'
import type { EditProfileInput } from './schemas.ts'

/** Changes the given fields of the person's own profile (`PATCH /console/me`). */
export const editProfile = async (work: Work, user: User, changes: EditProfileInput) => {
  const changed = definedFields(changes)
  const set = { ...changed, ...(changed.time_zone !== undefined && { time_zone_chosen: true }) }
  const view = presentUser({ ...user, ...set })
  if (Object.keys(set).length === 0) return view
  await work.commit([UserEntity.update({ id: user.id }, { set }, { where: { status: 'active' } })], view)
  return view
}

/** Returns the fields that were sent. */
export const definedFields = <T extends object>(changes: T): { [K in keyof T]: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never
