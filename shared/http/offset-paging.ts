import * as z from 'zod'
import { LIMITS } from '../kernel/limits.ts'
import { limit } from './paging.ts'

/** `offset` is a plain decimal integer from 0 to 10,000, default 0 (decisions §1 "Pages"). */
const offset = () =>
  z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,4})$/.test(text), 'must be an integer from 0 to 10000')
    .transform(Number)
    .pipe(z.number().max(LIMITS.offsetMax, 'must be an integer from 0 to 10000'))
    .default(0)
    .meta({
      description: 'Records to skip. Narrow the list by its filters to get further than 10,000.',
      type: 'integer',
      minimum: 0,
      maximum: LIMITS.offsetMax,
      example: 0,
    })

/** The query of an admin list, with the list's own filters. */
export const offsetQuery = <F extends z.ZodRawShape>(filters: F) =>
  z.strictObject({ ...filters, limit: limit(), offset: offset() })

/** The envelope of admin lists (decisions §1 "Pages"). */
export interface Observed<R> {
  items: R[]
  /** Records in the list as it is filtered, exactly. */
  total: number
  limit: number
  offset: number
}

/**
 * Reads a page by its offset and wraps it.
 * @param total see domain/totals.ts
 * @param read see `Table.skipTo`
 */
export const observed = async <T, R>(
  { limit, offset }: { limit: number; offset: number },
  total: () => Promise<number>,
  read: (at: { limit: number; offset: number }) => Promise<T[]>,
  present: (item: T) => R | Promise<R>,
): Promise<Observed<R>> => {
  const [all, items] = await Promise.all([total(), read({ limit, offset })])
  return { items: await Promise.all(items.map(present)), total: all, limit, offset }
}
