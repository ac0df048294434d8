import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { totalMoveWrites } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import type { ListSource } from '#shared/table/lists.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { openApplicationClaim, presentVerification, verificationOwner } from './apply.ts'
import { badgeWrites } from './badge.ts'
import { VERIFICATION_STATUSES, type Verification, VerificationEntity, verificationsBy } from './entity.ts'
import type { ModeratedVerificationView } from './schemas.ts'

type Status = Verification['status']

/** Returns the lists that hold the applications of one status, or of all statuses. The totals count the same lists. */
export const verificationLists = (status: Status | undefined): string[] =>
  (status === undefined ? VERIFICATION_STATUSES : [status]).map(verificationsBy)

export const verificationSources = (status: Status | undefined): ListSource[] =>
  verificationLists(status).map((directory) => ({ directory }))

/**
 * Handles `POST /admin/verifications/{id}/decide`. If two moderators decide at once, one of them wins. The developer is
 * notified in their sandbox workspace and may apply again after a rejection.
 * @throws `not_found`; `conflict` if the application is already decided
 */
export const decideVerification = (
  work: Work,
  moderator: Moderator,
  id: string,
  { decision, reason }: { decision: 'approve' | 'reject'; reason: string },
): Promise<ModeratedVerificationView> => {
  // Generated outside the retried block, so that every attempt notifies under the same id.
  const notificationId = work.id('notification')
  return retryOnConflict(async () => {
    const { application, developer } = await load(work, id)
    if (application.status !== 'pending') throw alreadyDecided(application)
    const status = decision === 'approve' ? 'approved' : 'rejected'
    const decided: Verification = {
      ...application,
      status,
      reason,
      decided_by: moderator.admin.id,
      decided_at: work.clock.now(),
    }
    const view = presentModeratedVerification(decided)
    const approves = status === 'approved' && !developer.verified
    await work.commit(
      [
        VerificationEntity.replace(decided, {
          where: { status: 'pending' },
          otherwise: (current) => (current ? alreadyDecided(current) : fail('not_found')),
        }),
        ClaimEntity.delete(openApplicationClaim(developer.id), { where: { owner_id: id } }),
        ...totalMoveWrites(verificationsBy('pending'), verificationsBy(status), id),
        ...(approves ? await badgeWrites(work, developer, true) : []),
        ...newNotification(
          { ...work, id: () => notificationId },
          {
            workspace_id: developer.sandbox_workspace_id,
            kind: 'verification.decided',
            title:
              status === 'approved'
                ? msg('Your account is verified')
                : msg('Your application for the verified badge was rejected'),
            body: reason,
            target: { type: 'verification', id },
          },
        ).writes,
        auditAdmin(
          work,
          moderator,
          `verification.${status}`,
          { type: 'verification', id },
          { before: { status: 'pending' }, after: { status }, developer_id: developer.id, reason },
        ),
      ],
      view,
    )
    return view
  })
}

const load = async ({ table }: Pick<Work, 'table'>, id: string) => {
  const owner = await table.get(ClaimEntity, verificationOwner(id, ''))
  if (!owner) throw noApplication()
  const { owner_id: developer_id } = owner
  const [application, developer] = await table.getAll([
    VerificationEntity.ref({ developer_id, id }),
    DeveloperEntity.ref({ id: developer_id }),
  ] as const)
  if (!application || !developer) throw noApplication()
  return { application, developer }
}

export const presentModeratedVerification = (application: Verification): ModeratedVerificationView => ({
  ...presentVerification(application),
  developer_id: application.developer_id,
  decided_by: application.decided_by ?? null,
})

const noApplication = () => fail('not_found', { message: 'Application not found.' })

const alreadyDecided = ({ status }: Verification) =>
  fail('conflict', { message: `The application is already ${status}.`, fix: 'List the pending applications.' })
