import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { type Developer, DeveloperEntity } from '../developers/entity.ts'
import { rightsOf } from '../developers/rights.ts'
import { hasRights } from '../developers/roles.ts'
import type { Member, User } from './entity.ts'

/** Loads the developer account of a stand-in, for {@link isActive}. Undefined for anybody else. */
export const loadGiver = async (
  { table }: Pick<Deps, 'table'>,
  user: User | undefined,
): Promise<Developer | undefined> => user?.stand_in && table.get(DeveloperEntity, { id: user.stand_in.developer_id })

/**
 * Reports whether a person may use the platform: they are neither blocked nor deleted, and the key or teammate whose
 * stand-in they are still opens the sandbox.
 */
export const isActive = (user: User | undefined, giver: Developer | undefined, now: number): user is User =>
  user?.status === 'active' && (user.stand_in === undefined || opensSandbox(giver, user.stand_in.given_by, now))

/** Reports whether a credential of a developer account still opens its sandbox. */
export const opensSandbox = (developer: Developer | undefined, givenBy: string, now: number): boolean =>
  hasRights(rightsOf(developer, givenBy, now)?.role ?? 'viewer', 'developer')

/**
 * Reports whether a membership that a developer account gave is still given by it. Other memberships last until somebody
 * ends them.
 */
export const isStillGiven = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { giver }: Pick<Member, 'giver'>,
): Promise<boolean> =>
  giver === undefined ||
  opensSandbox(await table.get(DeveloperEntity, { id: giver.developer_id }), giver.given_by, clock.now())

/** @throws `forbidden` for a stand-in, whose access may not outlast the key or teammate that it stands for */
export const refuseStandIn = ({ stand_in }: User): void => {
  if (!stand_in) return
  throw fail('forbidden', {
    message: 'This person is made up for your sandbox, and has neither passkeys nor an e-mail address.',
    fix: 'Open the sandbox from the developer portal. Add passkeys there, under Account.',
  })
}
