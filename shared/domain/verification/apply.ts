import { ClaimEntity } from '../../entities/developers.ts'
import { type Verification, VerificationEntity, verificationsBy } from '../../entities/moderation.ts'
import { iso } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import { counted } from '../totals.ts'
import type { ApplyInput, VerificationStateView, VerificationView } from './schemas.ts'

/** The claim that keeps a developer at one open application; its owner is the application. */
export const openApplication = (developerId: string) => ({ kind: 'open-verification', value: developerId })

/** Whose application it is, for those who know its id only. */
export const verificationOwner = (id: string, developerId: string) => ({
  kind: 'verification',
  value: id,
  owner_id: developerId,
})

/**
 * `POST /api/v1/dev/verification`: applies for the verified badge. After a rejection one may apply again.
 * @throws `blocked_target` for a website that nobody may be sent to; `conflict` while one is open or when verified already
 */
export const applyForVerification = async (
  work: Work,
  developerId: string,
  input: ApplyInput,
): Promise<VerificationView> => {
  const developer = await loadDeveloper(work, developerId)
  if (developer.verified) {
    throw fail('conflict', { message: 'The account is verified already.', fix: 'There is nothing to apply for.' })
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
    id: work.id('verification'),
    developer_id: developerId,
    status: 'pending',
    created_at: work.clock.now(),
  }
  const view = presentVerification(application)
  await work.commit(
    [
      ClaimEntity.create({ ...openApplication(developerId), owner_id: application.id }, { otherwise: openAlready }),
      VerificationEntity.create(application),
      ClaimEntity.create(verificationOwner(application.id, developerId)),
      counted(verificationsBy('pending'), application.id, 1),
      auditDeveloper(work, developerId, 'verification.requested', { type: 'verification', id: application.id }),
    ],
    view,
  )
  return view
}

/** `GET /api/v1/dev/verification`. */
export const readVerification = async (
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

const openAlready = () =>
  fail('conflict', {
    message: 'An application is open already.',
    fix: 'Wait for the decision: GET /api/v1/dev/verification shows it.',
  })
