import type { Work } from '#shared/foundation/work/index.ts'
import { derivedId } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { UserEntity } from '../people/entity.ts'
import type { OpenSandboxInput } from './schemas.ts'

type As = OpenSandboxInput['as']

/** Returns the identity of a made-up person in the sandbox. Each teammate has their own, so that it ends with them. */
export const standInIdentity = (developerId: string, as: As, memberId: string | undefined): string =>
  ['sandbox', developerId, as, ...(memberId === undefined ? [] : [memberId])].join(':')

/** Returns the writes that end a teammate's made-up people, and with them their console sessions. */
export const endStandIns = async (
  { table }: Pick<Work, 'table'>,
  developerId: string,
  memberId: string,
): Promise<Write[]> => {
  const ids = (['owner', 'customer'] as const).map((as) =>
    derivedId('user', 0, standInIdentity(developerId, as, memberId)),
  )
  const users = await table.getAll(ids.map((id) => UserEntity.ref({ id })))
  return users.flatMap((user) =>
    user?.status === 'active'
      ? [UserEntity.update({ id: user.id }, { set: { status: 'blocked' } }, { where: { status: 'active' } })]
      : [],
  )
}
