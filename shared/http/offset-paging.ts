import * as z from 'zod'
import { LIMITS } from '../kernel/limits.ts'
import { limitSchema } from './paging.ts'

/** Schema of `offset`: a plain decimal integer from 0 to 10,000, default 0 (contract/general.md#admin-lists). */
const offset = () =>
  z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,4})$/.test(text), 'must be an integer from 0 to 10000')
    .transform(Number)
    .pipe(z.number().max(LIMITS.offsetMax, 'must be an integer from 0 to 10000'))
    .default(0)
    .meta({
      description: 'Number of records to skip. To reach records beyond 10,000, narrow the list with its filters.',
      type: 'integer',
      minimum: 0,
      maximum: LIMITS.offsetMax,
      example: 0,
    })

/** Schema of an admin list's query, with the list's own filters. */
export const offsetQuery = <F extends z.ZodRawShape>(filters: F) =>
  z.strictObject({ ...filters, limit: limitSchema(), offset: offset() })

/** Envelope of admin lists (contract/general.md#admin-lists). */
export interface OffsetPage<R> {
  items: R[]
  /** Exact number of records in the filtered list. */
  total: number
  limit: number
  offset: number
}

/**
 * Reads a page by its offset and wraps it.
 * @param total see foundation/totals
 * @param read see `Table.skipTo`
 */
export const readOffsetPage = async <T, R>(
  { limit, offset }: { limit: number; offset: number },
  total: () => Promise<number>,
  read: (at: { limit: number; offset: number }) => Promise<T[]>,
  present: (item: T) => R | Promise<R>,
): Promise<OffsetPage<R>> => {
  const [all, items] = await Promise.all([total(), read({ limit, offset })])
  return { items: await Promise.all(items.map(present)), total: all, limit, offset }
}
