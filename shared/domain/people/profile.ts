import { type User, UserEntity } from '../../entities/people.ts'
import type { Work } from '../deps.ts'
import { presentUser } from './present.ts'
import type { EditProfileInput } from './schemas.ts'

/** `PATCH /console/me`: what is given changes, the rest stays. */
export const editProfile = async (work: Work, user: User, changes: EditProfileInput) => {
  const set = given(changes)
  const view = presentUser({ ...user, ...set })
  if (Object.keys(set).length === 0) return view
  await work.commit([UserEntity.update({ id: user.id }, { set }, { where: { status: 'active' } })], view)
  return view
}

/** The fields that were sent. */
export const given = <T extends object>(changes: T): { [K in keyof T]: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never
