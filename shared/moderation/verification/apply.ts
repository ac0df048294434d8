import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { type Verification, VerificationEntity, verificationsBy } from './entity.ts'
import type { ApplyInput, VerificationStateView, VerificationView } from './schemas.ts'

/** Claim that limits a developer to one open application. The application is its owner. */
export const openApplicationClaim = (developerId: string) => ({ kind: 'open-verification', value: developerId })

/** Maps an application's id to its developer. */
export const verificationOwner = (id: string, developerId: string) => ({
  kind: 'verification',
  value: id,
  owner_id: developerId,
})

/**
 * Handles `POST /api/v1/dev/verification`: applies for the verified badge. Developers may apply again after a
 * rejection.
 * @throws `blocked_target` for a forbidden website; `conflict` while an application is open, or if the account is
 * already verified
 */
export const applyForVerification = async (
  work: Work,
  developerId: string,
  input: ApplyInput,
): Promise<VerificationView> => {
  const developer = await loadDeveloper(work, developerId)
  if (developer.verified) {
    throw fail('conflict', { message: 'The account is already verified.', fix: 'No application is needed.' })
  }
  const forbidden = work.http.checkAddress(input.website)
  if (forbidden !== undefined) {
    throw fail('blocked_target', {
      message: `website is forbidden. ${forbidden}`,
      details: { reason: forbidden, fields: { website: [forbidden] } },
    })
  }
  const application: Verification = {
    ...input,
    ...stampOf(work.id('verification')),
    developer_id: developerId,
    status: 'pending',
  }
  const view = presentVerification(application)
  await work.commit(
    [
      ClaimEntity.create(
        { ...openApplicationClaim(developerId), owner_id: application.id },
        { otherwise: alreadyOpen },
      ),
      VerificationEntity.create(application),
      ClaimEntity.create(verificationOwner(application.id, developerId)),
      totalWrite(verificationsBy('pending'), application.id, 1),
      auditDeveloper(work, developerId, 'verification.requested', { type: 'verification', id: application.id }),
    ],
    view,
  )
  return view
}

/** Handles `GET /api/v1/dev/verification`. */
export const loadVerification = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
): Promise<VerificationStateView> => {
  const [{ verified }, { items }] = await Promise.all([
    loadDeveloper(deps, developerId),
    deps.table.query(VerificationEntity, { developer_id: developerId }, { limit: 1 }),
  ])
  const [latest] = items
  return { verified, application: latest ? presentVerification(latest) : null }
}

export const presentVerification = (application: Verification): VerificationView => {
  const {
    developer_id: _,
    decided_by: __,
    registration_number = null,
    reason = null,
    decided_at,
    created_at,
    ...fields
  } = application
  return {
    ...fields,
    registration_number,
    reason,
    decided_at: decided_at === undefined ? null : iso(decided_at),
    created_at: iso(created_at),
  }
}

const alreadyOpen = () =>
  fail('conflict', {
    message: 'You already have an open application.',
    fix: 'Wait for the decision, which GET /api/v1/dev/verification shows.',
  })
