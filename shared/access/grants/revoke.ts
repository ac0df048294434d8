import type { Work } from '#shared/foundation/work/index.ts'
import { atLeast, type Member } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { findLiveGrant } from './read.ts'
import { endGrant } from './revoke-chain.ts'

/**
 * Handles `DELETE /console/grants/{id}`: the customer revokes a grant. Its tokens are refused from the next request on, the
 * callback tokens of its runs included. The installation and other grants stay. If it was the last consent, access is
 * withdrawn ({@link endGrant}).
 * @throws `not_found` also for a grant that has ended; `admin_required` for another person's grant
 */
export const revokeGrant = async (work: Work, by: Member, id: string): Promise<void> => {
  const grant = (await findLiveGrant(work, by.workspace_id, id))?.grant
  if (!grant) throw noGrant()
  if (grant.approved_by?.id !== by.user_id && !atLeast(by.role, 'admin')) {
    throw fail('admin_required', {
      message: 'Another person approved this grant. Revoking it requires the role admin.',
      fix: 'Ask the person who approved it, or an admin of the workspace.',
    })
  }
  const actor = { type: 'user', id: by.user_id } as const
  const ended = await endGrant(work, { ...grant, grant_id: id }, { reason: 'customer', actor }, (writes) =>
    work.commit(writes),
  )
  if (!ended) throw noGrant()
}

/** Error for a grant that is unknown, another workspace's, or over. */
export const noGrant = (): PlatformError => fail('not_found', { message: 'Grant not found, or it has already ended.' })
