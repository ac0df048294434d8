import * as z from 'zod'
import { REVIEW_STARS, type Review, type ReviewTotals } from '../../entities/reviews.ts'
import { iso } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { idField, line, time } from '../fields.ts'

/** `PUT /console/apps/{id}/review`. */
export const WriteReview = () =>
  z
    .strictObject({
      rating: z.int('must be 1, 2, 3, 4 or 5').min(1).max(5).meta({ example: 4 }),
      text: line(4_000).optional().meta({ example: 'Answers quickly.' }),
    })
    .meta({ id: 'WriteReview' })

/** `POST /api/v1/dev/reviews/{id}/reply`. */
export const ReplyToReview = () =>
  z.strictObject({ text: line(4_000).meta({ example: 'Thank you.' }) }).meta({ id: 'ReplyToReview' })

/** A review: public, with the name of the organization that wrote it (decisions §8). */
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

/** What a list of an app's reviews has beside them: over all visible ones. */
export const ReviewTotalsSchema = () =>
  z
    .object({
      average: z.number().nullable().meta({ description: 'To two decimals; null while there is none.', example: 4.25 }),
      distribution: z.object(Object.fromEntries(REVIEW_STARS.map((stars) => [String(stars), z.number().int()]))),
      count: z.number().int(),
      mine: ReviewSchema().nullable().meta({ description: 'The caller’s own; null for a developer.' }),
    })
    .meta({ id: 'ReviewTotals' })

/** A review as the platform’s staff sees it. */
export const ModeratedReviewSchema = () =>
  ReviewSchema()
    .extend({
      hidden: z.boolean(),
      hidden_reason: z
        .string()
        .nullable()
        .meta({ description: 'What the moderator said who hid it or showed it again.' }),
      developer_id: idField('dev'),
      workspace_id: idField('ws'),
      author: z.object({ id: idField('usr'), name: z.string() }),
    })
    .meta({ id: 'ModeratedReview' })

export type ModeratedReviewView = z.infer<ReturnType<typeof ModeratedReviewSchema>>

/** The filters of `GET /admin/reviews`. */
export const reviewFilters = () => ({
  app: z
    .string()
    .refine((text) => isId('app', text), 'must be the id of an app')
    .optional()
    .meta({ description: 'Reviews of this app only.', example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' }),
  hidden: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Only those that are hidden, or are not. Default: all.' }),
  rating: z
    .enum(['1', '2', '3', '4', '5'])
    .optional()
    .meta({ description: 'Only those of so many stars.', example: '1' }),
})

/** `POST /admin/reviews/{id}/hide`. */
export const HideReview = () =>
  z
    .strictObject({
      hidden: z.boolean().meta({ description: '`false` shows it again.' }),
      reason: line(2_000).meta({
        description: 'Shown to the organization that wrote it.',
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

/** How many reviews of an app are hidden. */
export const hiddenIn = (totals: ReviewTotals | undefined): number =>
  REVIEW_STARS.reduce((sum, stars) => sum + (totals?.[`h${stars}`] ?? 0), 0)

export const presentTotals = (totals: ReviewTotals | undefined, mine: Review | undefined): ReviewTotalsView => {
  const counts = REVIEW_STARS.map((stars) => totals?.[`n${stars}`] ?? 0)
  const count = counts.reduce((sum, n) => sum + n, 0)
  const stars = counts.reduce((sum, n, i) => sum + n * (i + 1), 0)
  return {
    average: count === 0 ? null : Math.round((100 * stars) / count) / 100,
    distribution: Object.fromEntries(counts.map((n, i) => [String(i + 1), n])),
    count,
    mine: mine ? presentReview(mine) : null,
  }
}
