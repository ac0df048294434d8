import * as z from 'zod'
import type { Deps } from '#shared/foundation/work/index.ts'
import { decodeCursor, encodeCursor } from '../kernel/cursor.ts'
import { type Keyring, parseKeyring } from '../kernel/keyring.ts'
import { LIMITS } from '../kernel/limits.ts'
import type { Page, QueryOptions } from '../table/table.ts'
import { type Caller, callerName } from './callers.ts'

/**
 * Schema of `limit`: a plain decimal integer from 1 to 100, default 50 (contract/general.md#pages). It arrives as text.
 * The OpenAPI document declares an integer, so that typed clients accept a number.
 */
export const limitSchema = () =>
  z
    .string()
    .refine((text) => /^[1-9]\d{0,2}$/.test(text), 'must be an integer from 1 to 100')
    .transform(Number)
    .pipe(z.number().max(LIMITS.pageMax, 'must be an integer from 1 to 100'))
    .default(LIMITS.pageDefault)
    .meta({
      description: 'Number of records per page.',
      type: 'integer',
      minimum: 1,
      maximum: LIMITS.pageMax,
      example: 50,
    })

/** Schema of a paged list's query, with the list's own filters. */
export const pageQuery = <F extends z.ZodRawShape>(filters: F) =>
  z.strictObject({
    ...filters,
    limit: limitSchema(),
    // Described only: a cursor of another form isn't misspelt but another list's, which is `bad_request`.
    cursor: z
      .string()
      .optional()
      .meta({ description: 'next_cursor of the previous page.', minLength: 1, pattern: '^[A-Za-z0-9_-]+$' }),
  })

/** Envelope of lists (contract/general.md#pages). */
export interface ListPage<T> {
  items: T[]
  next_cursor: string | null
  has_more: boolean
}

/**
 * Ring of the cursors of public lists. It is no secret: such a list shows everyone everything, and its function reads no
 * keyring.
 */
const PUBLIC_RING: Keyring = parseKeyring(JSON.stringify({ current: 'public', public: 'public'.padEnd(32) }))

/**
 * Reads a page and wraps it. The cursor carries the position and is bound to the caller and to the list with its
 * filters.
 * @param list the endpoint's id and the active filters
 */
const paged = async <T, R>(
  deps: Pick<Deps, 'keys'>,
  caller: Caller,
  list: readonly unknown[],
  query: { limit: number; cursor?: string | undefined },
  read: (options: Pick<QueryOptions, 'limit' | 'after'>) => Promise<Page<T>>,
  present: (item: T) => R | Promise<R>,
): Promise<ListPage<R>> => {
  const ring = async () => (caller.kind === 'none' ? PUBLIC_RING : deps.keys.data())
  const context = JSON.stringify([callerName(caller), ...list])
  const after = query.cursor === undefined ? undefined : decodeCursor(await ring(), context, query.cursor)
  const page = await read({ limit: query.limit, after })
  return {
    items: await Promise.all(page.items.map(present)),
    next_cursor: page.next === undefined ? null : encodeCursor(await ring(), context, page.next),
    has_more: page.next !== undefined,
  }
}

/** Position and size of a page to read. */
type PageAt = Pick<QueryOptions, 'limit' | 'after'>

/** A list behind cursors. Its cursors are bound to the caller, the path and the filters. */
export interface PagedList<Ctx, Item, Loaded> {
  /** Reads what the whole list needs, once per request. */
  load?(context: Ctx): Promise<Loaded>
  read(context: Ctx, page: PageAt, loaded: Loaded): Promise<Page<Item>>
  present(item: Item, context: Ctx, loaded: Loaded): object | Promise<object>
  /** Filters that cursors aren't bound to. */
  unbound?: readonly string[]
  /** Returns the fields that the endpoint's `also` describes. */
  also?(context: Ctx, loaded: Loaded): Promise<object>
}

interface PagedContext {
  work: Pick<Deps, 'keys'>
  caller: Caller
  params: Record<string, string>
  query: { limit: number; cursor?: string | undefined }
}

/** The handler of an endpoint that declares a list (see `defineEndpoint`). */
export const pagedHandler =
  <Ctx, Item, Loaded>(id: string, { load, read, present, unbound = [], also }: PagedList<Ctx, Item, Loaded>) =>
  async (context: Ctx & PagedContext): Promise<object> => {
    const { limit, cursor, ...query } = context.query
    const filters = Object.entries(query).filter(([name]) => !unbound.includes(name))
    const loaded = (await load?.(context)) as Loaded
    const page = () =>
      paged(
        context.work,
        context.caller,
        [id, context.params, filters],
        { limit, cursor },
        (at) => read(context, at, loaded),
        (item) => present(item, context, loaded),
      )
    const [list, more] = await Promise.all([page(), also?.(context, loaded)])
    return { ...more, ...list }
  }

/** Pages of a list that is there as a whole, for {@link paged}. */
export const pageThrough =
  <T>(items: readonly T[]) =>
  async ({ limit, after = '0' }: Pick<QueryOptions, 'limit' | 'after'>): Promise<Page<T>> => {
    const end = Number(after) + limit
    return { items: items.slice(Number(after), end), next: end < items.length ? String(end) : undefined }
  }

/** Wraps a short list in the same envelope. */
export const wholeList = <T>(items: T[]): ListPage<T> => ({ items, next_cursor: null, has_more: false })
