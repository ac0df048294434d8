import * as z from 'zod'
import { idField, line, time } from '#shared/foundation/schemas/index.ts'
import { atLeast, type Member } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { isId } from '#shared/kernel/ids.ts'
import { REVIEW_STARS, type Review, type ReviewTotals } from './entity.ts'

/** Body of `PUT /console/apps/{id}/review`. */
export const WriteReview = () =>
  z
    .strictObject({
      rating: z.int('must be 1, 2, 3, 4 or 5').min(1).max(5).meta({ example: 4 }),
      text: line(4_000).optional().meta({ example: 'Answers quickly.' }),
    })
    .meta({ id: 'WriteReview' })

/** Body of `POST /api/v1/dev/reviews/{id}/reply`. */
export const ReplyToReview = () =>
  z.strictObject({ text: line(4_000).meta({ example: 'Thank you.' }) }).meta({ id: 'ReplyToReview' })

/** A public review, with the name of the workspace that wrote it (contract/moderation.md#reviews). */
export const ReviewSchema = () =>
  z
    .object({
      id: idField('rev'),
      app_id: idField('app'),
      rating: z.number().int(),
      text: z.string().nullable(),
      workspace_name: z.string(),
      status: z.enum(['visible', 'hidden']),
      reply: z.object({ text: z.string(), created_at: time() }).nullable(),
      created_at: time(),
      updated_at: time(),
    })
    .meta({ id: 'Review' })

/** Totals over an app's visible reviews, returned with their list. */
export const ReviewTotalsSchema = () =>
  z
    .object({
      average: z
        .number()
        .nullable()
        .meta({ description: 'Rounded to two decimals; null without reviews.', example: 4.25 }),
      distribution: z.object(Object.fromEntries(REVIEW_STARS.map((stars) => [String(stars), z.number().int()]))),
      count: z.number().int(),
      mine: ReviewSchema()
        .nullable()
        .meta({ description: 'The review of the caller’s workspace; null for a developer.' }),
      mine_editable: z.boolean().meta({
        description: 'Whether the caller may change or delete `mine`: they wrote it, or are an admin of the workspace.',
      }),
    })
    .meta({ id: 'ReviewTotals' })

/** A review as platform admins see it. */
export const ModeratedReviewSchema = () =>
  ReviewSchema()
    .extend({
      hidden: z.boolean(),
      hidden_reason: z
        .string()
        .nullable()
        .meta({ description: 'The moderator’s reason for hiding it or showing it again.' }),
      developer_id: idField('dev'),
      workspace_id: idField('ws'),
      author: z.object({ id: idField('usr'), name: z.string() }),
    })
    .meta({ id: 'ModeratedReview' })

export type ModeratedReviewView = z.infer<ReturnType<typeof ModeratedReviewSchema>>

/** Filters of `GET /admin/reviews`. */
export const reviewFilters = () => ({
  app: z
    .string()
    .refine((text) => isId('app', text), 'must be the id of an app')
    .optional()
    .meta({ description: 'Only reviews of this app.', example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }),
  hidden: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` for hidden reviews, `false` for visible ones. Default: all.' }),
  rating: z
    .enum(['1', '2', '3', '4', '5'])
    .optional()
    .meta({ description: 'Only reviews with this rating.', example: '1' }),
})

/** Body of `POST /admin/reviews/{id}/hide`. */
export const HideReview = () =>
  z
    .strictObject({
      hidden: z.boolean().meta({ description: '`true` hides the review, `false` shows it again.' }),
      reason: line(2_000).meta({
        description: 'Reason, shown to the workspace that wrote the review.',
        example: 'It insults a person.',
      }),
    })
    .meta({ id: 'HideReview' })

export type ReviewView = z.infer<ReturnType<typeof ReviewSchema>>

export type ReviewTotalsView = z.infer<ReturnType<typeof ReviewTotalsSchema>>

export const presentReview = (review: Review): ReviewView => ({
  id: review.id,
  app_id: review.app_id,
  rating: review.rating,
  text: review.text ?? null,
  workspace_name: review.workspace_name,
  status: review.hidden ? 'hidden' : 'visible',
  reply: review.reply ? { text: review.reply.text, created_at: iso(review.reply.at) } : null,
  created_at: iso(review.created_at),
  updated_at: iso(review.updated_at),
})

export const presentModeratedReview = (review: Review): ModeratedReviewView => ({
  ...presentReview(review),
  hidden: review.hidden,
  hidden_reason: review.hidden_reason ?? null,
  developer_id: review.developer_id,
  workspace_id: review.workspace_id,
  author: review.author,
})

/** Returns the number of an app's hidden reviews. */
export const hiddenCount = (totals: ReviewTotals | undefined): number =>
  REVIEW_STARS.reduce((sum, stars) => sum + (totals?.[`h${stars}`] ?? 0), 0)

/** Reports whether a person may change or remove their workspace's review. */
export const canChange = ({ author }: Review, { user_id, role }: Member): boolean =>
  author.id === user_id || atLeast(role, 'admin')

/** @param own the review of the reader's workspace, and the reader */
export const presentTotals = (
  totals: ReviewTotals | undefined,
  own?: { review: Review; member: Member } | undefined,
): ReviewTotalsView => {
  const counts = REVIEW_STARS.map((stars) => totals?.[`n${stars}`] ?? 0)
  const count = counts.reduce((sum, n) => sum + n, 0)
  const stars = counts.reduce((sum, n, i) => sum + n * (i + 1), 0)
  return {
    average: count === 0 ? null : Math.round((100 * stars) / count) / 100,
    distribution: Object.fromEntries(counts.map((n, i) => [String(i + 1), n])),
    count,
    mine: own ? presentReview(own.review) : null,
    mine_editable: own !== undefined && canChange(own.review, own.member),
  }
}
