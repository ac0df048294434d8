import type { Work } from '#shared/foundation/work/index.ts'
import type { Member } from '#shared/identity/people/index.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Grant, GrantEntity } from './entity.ts'
import { type GrantView, presentGrant } from './present.ts'
import { findLiveGrant } from './read.ts'
import { noGrant } from './revoke.ts'

/**
 * Pauses or resumes a grant (contract/oauth-and-tokens.md#pausing-a-grant). Its tokens are refused from the next request on,
 * and accepted again once it is resumed. Idempotent.
 * @throws `not_found` also for a grant that has ended
 */
const setPaused = (work: Work, by: Member, id: string, paused: boolean): Promise<GrantView> =>
  retryOnConflict(async () => {
    const found = await findLiveGrant(work, by.workspace_id, id)
    if (!found) throw noGrant()
    const { grant, installation, app } = found
    if ((grant.paused_at !== undefined) === paused) return presentGrant(grant, installation, app)
    const changed: Grant = { ...grant, paused_at: paused ? work.clock.now() : undefined }
    const view = presentGrant(changed, installation, app)
    await work.commit(
      [
        GrantEntity.update(
          grant,
          { set: { paused_at: changed.paused_at } },
          { where: { status: 'active', paused_at: grant.paused_at ?? missing } },
        ),
        auditEntry(work, {
          scope: grant.workspace_id,
          action: paused ? 'grant.paused' : 'grant.resumed',
          actor: { type: 'user', id: by.user_id },
          target: { type: 'grant', id },
          details: { installation_id: installation.id },
        }),
      ],
      view,
    )
    return view
  })

/** Handles `POST /console/grants/{id}/pause`. @see setPaused */
export const pauseGrant = (work: Work, by: Member, id: string): Promise<GrantView> => setPaused(work, by, id, true)

/** Handles `POST /console/grants/{id}/resume`. @see setPaused */
export const resumeGrant = (work: Work, by: Member, id: string): Promise<GrantView> => setPaused(work, by, id, false)
