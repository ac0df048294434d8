import { readTotal } from '#shared/foundation/totals/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { pageAtOffset } from '#shared/table/lists.ts'
import {
  AppReviewEntity,
  appReviewsBy,
  REVIEW_STARS,
  type Review,
  ReviewEntity,
  ReviewTotalsEntity,
  reviewsBy,
} from './entity.ts'

interface Search {
  app?: string | undefined
  hidden?: 'true' | 'false' | undefined
  rating?: string | undefined
  limit: number
  offset: number
}

/** Lists reviews for `GET /admin/reviews`, newest first, with the number that match the filters. */
export const listReviewsForAdmin = async (
  deps: Pick<Deps, 'table'>,
  search: Search,
): Promise<{ items: Review[]; total: number }> => {
  const { table } = deps
  const { app, limit, offset } = search
  const kinds = kindsOf(search)
  if (app === undefined && kinds.length === 2 * REVIEW_STARS.length) {
    const [total, items] = await Promise.all([
      readTotal(deps, kinds.map(reviewsBy)),
      pageAtOffset(table, ReviewEntity, [{ directory: 'reviews' }], { limit, offset }),
    ])
    return { items, total }
  }
  const sources = kinds.map((kind) =>
    app === undefined ? { directory: reviewsBy(kind) } : { list: appReviewsBy(app, kind) },
  )
  const [total, places] = await Promise.all([
    app === undefined ? readTotal(deps, kinds.map(reviewsBy)) : totalOfApp(deps, app, kinds),
    pageAtOffset(table, AppReviewEntity, sources, { limit, offset }),
  ])
  const reviews = await table.getAll(places.map(({ review_id }) => ReviewEntity.ref({ id: review_id })))
  return { items: (reviews as (Review | undefined)[]).filter((review) => review !== undefined), total }
}

interface Kind {
  rating: number
  hidden: boolean
}

const kindsOf = ({ hidden, rating }: Search): Kind[] =>
  [false, true]
    .filter((isHidden) => hidden === undefined || String(isHidden) === hidden)
    .flatMap((isHidden) =>
      REVIEW_STARS.filter((stars) => rating === undefined || String(stars) === rating).map((stars) => ({
        rating: stars,
        hidden: isHidden,
      })),
    )

const totalOfApp = async ({ table }: Pick<Deps, 'table'>, app_id: string, kinds: readonly Kind[]): Promise<number> => {
  const totals = await table.get(ReviewTotalsEntity, { app_id })
  return kinds.reduce((sum, { rating, hidden }) => sum + (totals?.[`${hidden ? 'h' : 'n'}${rating}` as 'n1'] ?? 0), 0)
}
