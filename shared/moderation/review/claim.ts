import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { type ReviewClaim, ReviewClaimEntity, ReviewItemEntity } from '#shared/catalogue/review-queue/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { HOUR, iso } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { ReviewClaimView } from './schemas.ts'

/** Time for which a moderator's claim on an app holds. Claiming the app again restarts it. */
const CLAIMED_FOR = 2 * HOUR

/**
 * Handles `POST /admin/apps/{id}/claim`: a moderator claims an app that waits for review, or releases it. If two claim
 * at once, one succeeds.
 * @throws `not_found`; `conflict` while another moderator holds the claim, or if nothing of the app waits for review
 */
export const claimApp = (
  work: Work,
  moderator: Moderator,
  appId: string,
  release: boolean,
): Promise<ReviewClaimView> => (release ? releaseClaim(work, moderator, appId) : takeClaim(work, moderator, appId))

const takeClaim = (work: Work, moderator: Moderator, app_id: string): Promise<ReviewClaimView> =>
  retryOnConflict(async () => {
    const { known, item } = await read(work, app_id)
    if (!item) {
      throw fail('conflict', {
        message: 'Nothing of this app is waiting for review.',
        fix: 'List the review queue with GET /admin/review.',
      })
    }
    const now = work.clock.now()
    if (known && isOthers(work, moderator, known)) throw claimedBy(known)
    const { id, name } = moderator.admin
    const claim: ReviewClaim = { app_id, admin: { id, name }, claimed_at: now, expires_at: now + CLAIMED_FOR }
    const view = presentClaim(app_id, claim)
    await work.commit(
      [
        ReviewClaimEntity.replace(claim, { where: unchanged(known) }),
        ReviewItemEntity.check(item, { where: {} }),
        auditAdmin(
          work,
          moderator,
          'app.claimed',
          { type: 'app', id: app_id },
          {
            before: { claimed_by: known && known.expires_at > now ? known.admin.id : null },
            after: { claimed_by: id },
          },
        ),
      ],
      view,
    )
    return view
  })

/** Releases a moderator's own claim. A superadmin may release any claim. */
const releaseClaim = (work: Work, moderator: Moderator, app_id: string): Promise<ReviewClaimView> =>
  retryOnConflict(async () => {
    const { known } = await read(work, app_id)
    const view = presentClaim(app_id, undefined)
    if (!known || known.expires_at <= work.clock.now()) return view
    if (isOthers(work, moderator, known) && moderator.admin.role !== 'superadmin') throw claimedBy(known)
    await work.commit(
      [
        ReviewClaimEntity.delete({ app_id }, { where: unchanged(known) }),
        auditAdmin(
          work,
          moderator,
          'app.claim_released',
          { type: 'app', id: app_id },
          {
            before: { claimed_by: known.admin.id },
            after: { claimed_by: null },
          },
        ),
      ],
      view,
    )
    return view
  })

const read = async ({ table }: Pick<Work, 'table'>, app_id: string) => {
  const [known, { items }, app] = await Promise.all([
    table.get(ReviewClaimEntity, { app_id }),
    table.query(ReviewItemEntity, { app_id }, { limit: 1 }),
    table.get(AppEntity, { id: app_id }),
  ])
  if (!app) throw fail('not_found', { message: 'App not found.' })
  return { known, item: items[0] }
}

const isOthers = ({ clock }: Pick<Work, 'clock'>, { admin }: Moderator, claim: ReviewClaim): boolean =>
  claim.admin.id !== admin.id && claim.expires_at > clock.now()

/** Returns the condition that the claim hasn't changed since it was read: still absent, or the same claim. */
const unchanged = (known: ReviewClaim | undefined) => ({
  claimed_at: known?.claimed_at ?? missing,
  ...(known && { expires_at: known.expires_at }),
})

/**
 * Returns the writes that end a claim with a decision. A moderator without a claim may decide if no one else has
 * claimed the app.
 * @param otherwise the error to throw if another moderator claims the app at this moment
 * @throws `conflict` naming the moderator who has claimed it
 */
export const endClaim = (
  work: Pick<Work, 'clock'>,
  moderator: Moderator,
  app_id: string,
  known: ReviewClaim | undefined,
  otherwise: () => unknown,
): Write[] => {
  if (known && isOthers(work, moderator, known)) throw claimedBy(known)
  return [ReviewClaimEntity.delete({ app_id }, { where: unchanged(known), otherwise })]
}

const claimedBy = ({ admin, expires_at }: ReviewClaim): PlatformError =>
  fail('conflict', {
    message: `${admin.name} has claimed this app.`,
    fix: `Ask them to release it, or wait until ${iso(expires_at)}. A superadmin may release it.`,
    details: { claimed_by: admin, expires_at: iso(expires_at) },
  })

export const presentClaim = (app_id: string, claim: ReviewClaim | undefined): ReviewClaimView => ({
  app_id,
  claimed_by: claim?.admin ?? null,
  claimed_at: claim ? iso(claim.claimed_at) : null,
  expires_at: claim ? iso(claim.expires_at) : null,
})
