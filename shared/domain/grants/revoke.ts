import { atLeast, type Member } from '../../entities/people.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { endOfGrant } from '../oauth/revoke-chain.ts'
import { liveGrantById } from './read.ts'

/**
 * `DELETE /console/grants/{id}`: the customer takes back what was granted. The grant's refresh and access tokens are
 * refused from the next request on; the installation stays, and so does what other consents granted.
 * @throws `not_found` also for one that has ended; `admin_required` for another person's
 */
export const revokeGrant = async (work: Work, by: Member, id: string): Promise<void> => {
  const grant = await liveGrantById(work, by.workspace_id, id)
  if (!grant) throw noGrant()
  if (grant.approved_by?.id !== by.user_id && !atLeast(by.role, 'admin')) {
    throw fail('admin_required', {
      message: 'Somebody else approved this: ending it needs the role admin.',
      fix: 'Ask whoever approved it, or somebody with the role admin.',
    })
  }
  try {
    await work.commit(endOfGrant(work, { ...grant, grant_id: id }, 'customer', { type: 'user', id: by.user_id }))
  } catch (error) {
    if (error instanceof ConditionFailed) throw noGrant()
    throw error
  }
}

const noGrant = (): PlatformError => fail('not_found', { message: 'There is no such grant, or it has ended.' })
