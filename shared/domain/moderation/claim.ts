import { AppEntity } from '../../entities/apps.ts'
import { type ReviewClaim, ReviewClaimEntity, ReviewItemEntity } from '../../entities/review-queue.ts'
import { HOUR, iso } from '../../kernel/clock.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import type { ReviewClaimView } from './schemas.ts'

/** How long a moderator has an app to themselves. Claiming it again begins anew. */
const CLAIMED_FOR = 2 * HOUR

/**
 * `POST /admin/apps/{id}/claim`: a moderator takes what waits of an app, or gives it back. Of two at once one gets it.
 * @throws `not_found`; `conflict` while somebody else has it, or when nothing of it waits
 */
export const claimApp = (
  work: Work,
  moderator: Moderator,
  appId: string,
  release: boolean,
): Promise<ReviewClaimView> => (release ? releaseClaim(work, moderator, appId) : takeClaim(work, moderator, appId))

const takeClaim = (work: Work, moderator: Moderator, app_id: string): Promise<ReviewClaimView> =>
  tryAgain(async () => {
    const { known, item } = await read(work, app_id)
    if (!item) {
      throw fail('conflict', { message: 'Nothing of this app waits for moderation.', fix: 'See GET /admin/review.' })
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
        auditStaff(
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

/** A moderator gives back what is theirs; a superadmin takes it from anybody. */
const releaseClaim = (work: Work, moderator: Moderator, app_id: string): Promise<ReviewClaimView> =>
  tryAgain(async () => {
    const { known } = await read(work, app_id)
    const view = presentClaim(app_id, undefined)
    if (!known || known.expires_at <= work.clock.now()) return view
    if (isOthers(work, moderator, known) && moderator.admin.role !== 'superadmin') throw claimedBy(known)
    await work.commit(
      [
        ReviewClaimEntity.delete({ app_id }, { where: unchanged(known) }),
        auditStaff(
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
  if (!app) throw fail('not_found', { message: 'There is no such app.' })
  return { known, item: items[0] }
}

const isOthers = ({ clock }: Pick<Work, 'clock'>, { admin }: Moderator, claim: ReviewClaim): boolean =>
  claim.admin.id !== admin.id && claim.expires_at > clock.now()

/** The claim must be what was read: nothing, or the very same one. */
const unchanged = (known: ReviewClaim | undefined) => ({
  claimed_at: known?.claimed_at ?? missing,
  ...(known && { expires_at: known.expires_at }),
})

/**
 * The writes that end a claim with a decision. Who has claimed nothing may decide what nobody else has claimed.
 * @param otherwise what is thrown when somebody claims it at this moment
 * @throws `conflict` naming who else has claimed it
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
