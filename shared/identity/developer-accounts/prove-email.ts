import type { Work } from '#shared/foundation/work/index.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { DeveloperEntity, isPortalSession } from '../developers/entity.ts'
import type { Giver } from '../developers/rights.ts'
import { loadEmailToken, useEmailToken } from './email.ts'
import { unchangedKeys } from './keys.ts'
import { presentDeveloper } from './present.ts'
import { loadDeveloper } from './read.ts'
import type { DeveloperView } from './schemas.ts'

/**
 * Confirms the account's e-mail address with the code that was sent to it (`POST /api/v1/dev/me/email-proof/confirm`).
 * Needs the account's key as well, so that a code alone, in a log or a shared mailbox, does nothing. Every other session
 * of the account ends.
 * @throws `forbidden` for a wrong code
 */
export const proveEmail = (
  work: Work,
  { developer_id: developerId, given_by }: Giver,
  token: string,
): Promise<DeveloperView> => retryOnConflict(() => prove(work, developerId, given_by, token))

const prove = async (work: Work, developerId: string, credential: string, token: string): Promise<DeveloperView> => {
  const [developer, record] = await Promise.all([
    loadDeveloper(work, developerId),
    loadEmailToken(work, token, 'prove', developerId),
  ])
  const view = presentDeveloper({ ...developer, email_verified_at: work.clock.now() })
  await work.commit(
    [
      useEmailToken(record),
      DeveloperEntity.update(
        { id: developerId },
        {
          set: {
            email_verified_at: work.clock.now(),
            keys: developer.keys.filter((key) => !isPortalSession(key) || key.key_hash === credential),
          },
        },
        { where: { ...unchangedKeys(developer), email: record.email, status: 'active' } },
      ),
      auditDeveloper(work, developerId, 'developer.email_proven', { type: 'developer', id: developerId }),
    ],
    view,
  )
  return view
}
