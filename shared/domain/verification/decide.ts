import { ClaimEntity, DeveloperEntity } from '../../entities/developers.ts'
import {
  VERIFICATION_STATUSES,
  type Verification,
  VerificationEntity,
  verificationsBy,
} from '../../entities/moderation.ts'
import { fail } from '../../kernel/errors.ts'
import type { ListSource } from '../../table/lists.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { movedBetween } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import { openApplication, presentVerification, verificationOwner } from './apply.ts'
import { badgeWrites } from './badge.ts'
import type { ModeratedVerificationView } from './schemas.ts'

type Status = Verification['status']

/** The lists that hold the applications of one status, or of all; by them they are counted too. */
export const verificationLists = (status: Status | undefined): string[] =>
  (status === undefined ? VERIFICATION_STATUSES : [status]).map(verificationsBy)

export const verificationSources = (status: Status | undefined): ListSource[] =>
  verificationLists(status).map((directory) => ({ directory }))

/**
 * `POST /admin/verifications/{id}/decide`: of two moderators one decides. The developer may apply again after a rejection, and
 * is notified in their sandbox workspace.
 * @throws `not_found`; `conflict` for one that is decided
 */
export const decideVerification = (
  work: Work,
  moderator: Moderator,
  id: string,
  { decision, reason }: { decision: 'approve' | 'reject'; reason: string },
): Promise<ModeratedVerificationView> => {
  // Outside of the tries, so that each of them notifies under the same id.
  const notificationId = work.id('notification')
  return tryAgain(async () => {
    const { application, developer } = await load(work, id)
    if (application.status !== 'pending') throw decidedAlready(application)
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
          otherwise: (current) => (current ? decidedAlready(current) : fail('not_found')),
        }),
        ClaimEntity.delete(openApplication(developer.id), { where: { owner_id: id } }),
        ...movedBetween(verificationsBy('pending'), verificationsBy(status), id),
        ...(approves ? await badgeWrites(work, developer, true) : []),
        ...newNotification(
          { ...work, id: () => notificationId },
          {
            workspace_id: developer.sandbox_workspace_id,
            kind: 'verification.decided',
            title:
              status === 'approved'
                ? 'Your account is verified'
                : 'Your application for the verified badge was rejected',
            body: reason,
            target: { type: 'verification', id },
          },
        ).writes,
        auditStaff(
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
    { entity: VerificationEntity, key: VerificationEntity.key({ developer_id, id }) },
    { entity: DeveloperEntity, key: DeveloperEntity.key({ id: developer_id }) },
  ] as const)
  if (!application || !developer) throw noApplication()
  return { application, developer }
}

export const presentModeratedVerification = (application: Verification): ModeratedVerificationView => ({
  ...presentVerification(application),
  developer_id: application.developer_id,
  decided_by: application.decided_by ?? null,
})

const noApplication = () => fail('not_found', { message: 'There is no such application.' })

const decidedAlready = ({ status }: Verification) =>
  fail('conflict', { message: `The application was ${status} already.`, fix: 'List those that are pending.' })
