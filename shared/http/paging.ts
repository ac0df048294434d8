import * as z from 'zod'
import type { Deps } from '../domain/deps.ts'
import { decodeCursor, encodeCursor } from '../kernel/cursor.ts'
import { LIMITS } from '../kernel/limits.ts'
import type { Page, QueryOptions } from '../table/table.ts'
import type { Caller } from './callers.ts'
import { callerName } from './work.ts'

/**
 * `limit` is a plain decimal integer from 1 to 100, default 50 (decisions §1 "Pages"). It comes as text; the document says
 * what it means, so that typed clients take a number.
 */
export const limit = () =>
  z
    .string()
    .refine((text) => /^[1-9]\d{0,2}$/.test(text), 'must be an integer from 1 to 100')
    .transform(Number)
    .pipe(z.number().max(LIMITS.pageMax, 'must be an integer from 1 to 100'))
    .default(LIMITS.pageDefault)
    .meta({ description: 'Records on the page.', type: 'integer', minimum: 1, maximum: LIMITS.pageMax, example: 50 })

/** The query of a paged list, with the list's own filters. */
export const pageQuery = <F extends z.ZodRawShape>(filters: F) =>
  z.strictObject({
    ...filters,
    limit: limit(),
    cursor: z.string().optional().meta({ description: 'next_cursor of the page before.' }),
  })

/** The list envelope (specification "List envelope"). */
export interface Listed<T> {
  items: T[]
  next_cursor: string | null
  has_more: boolean
}

/**
 * Reads a page and wraps it. The cursor carries the position, bound to the caller and the list with its filters.
 * @param list the endpoint's id and the filters in force
 */
export const paged = async <T, R>(
  deps: Pick<Deps, 'keys'>,
  caller: Caller,
  list: readonly unknown[],
  query: { limit: number; cursor?: string | undefined },
  read: (options: Pick<QueryOptions, 'limit' | 'after'>) => Promise<Page<T>>,
  present: (item: T) => R | Promise<R>,
): Promise<Listed<R>> => {
  const ring = () => deps.keys.data()
  const context = JSON.stringify([callerName(caller), ...list])
  const after = query.cursor === undefined ? undefined : decodeCursor(await ring(), context, query.cursor)
  const page = await read({ limit: query.limit, after })
  return {
    items: await Promise.all(page.items.map(present)),
    next_cursor: page.next === undefined ? null : encodeCursor(await ring(), context, page.next),
    has_more: page.next !== undefined,
  }
}

/** Pages of a list that is there as a whole, for {@link paged}. */
export const pagesOf =
  <T>(items: readonly T[]) =>
  async ({ limit, after = '0' }: Pick<QueryOptions, 'limit' | 'after'>): Promise<Page<T>> => {
    const end = Number(after) + limit
    return { items: items.slice(Number(after), end), next: end < items.length ? String(end) : undefined }
  }

/** A list that is short by its nature, in the same envelope. */
export const whole = <T>(items: T[]): Listed<T> => ({ items, next_cursor: null, has_more: false })
