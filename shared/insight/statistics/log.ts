import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { idFloor, isId, siblingId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { durationOf, type Run } from '#shared/work/runs/index.ts'
import { type AppLog, AppLogEntity } from './entity.ts'
import { FINISHED, type LogFilter } from './schemas.ts'

/** Returns the list for a filter. Agents choose their error codes, so these are hashed into keys of fixed length. */
const listOf = ({
  status,
  error_code,
  request_id,
}: Pick<LogFilter, 'status' | 'error_code' | 'request_id'>): string => {
  if (request_id !== undefined) return `REQUEST#${sha256(request_id)}`
  if (error_code !== undefined) return `ERROR#${sha256(error_code)}`
  return status === undefined ? 'ALL' : `STATUS#${status}`
}

/** Lists that hold every run of an app together. */
const STATUS_LISTS = FINISHED.map((status) => listOf({ status }))

/** Shards of a list that each run of a busy app could be in. Those of requests are short. Never lowered. */
const LOG_SHARDS = 4

const isSharded = (list: string): boolean => !list.startsWith('REQUEST#')

/** Returns the shard of a list that has the run's copy. */
const shardFor = (list: string, run_id: string): string =>
  isSharded(list) ? `${list}#${Number.parseInt(sha256(run_id).slice(0, 8), 16) % LOG_SHARDS}` : list

/** Returns all shards of a list. */
const shardsOf = (list: string): string[] =>
  isSharded(list) ? Array.from({ length: LOG_SHARDS }, (_, shard) => `${list}#${shard}`) : [list]

/** Returns the run that shares its id with a request: the first one that the request started. */
const runOfRequest = (requestId: string): string | undefined =>
  isId('request', requestId) ? siblingId('run', requestId) : undefined

/** Returns the place of a finished run in the list of its status. */
const placeInLog = (app_id: string, run_id: string, status: LogFilter['status']) => ({
  app_id,
  list: shardFor(listOf({ status }), run_id),
  run_id,
})

/** Returns all places of which a finished run has one. */
export const placesInLog = (app_id: string, run_id: string) =>
  FINISHED.map((status) => placeInLog(app_id, run_id, status))

/** Returns a finished run's entry in the list of its status. */
export const logEntryOf = (run: Run): AppLog => ({
  ...entryOf(run),
  ...placeInLog(run.app_id, run.id, run.status as LogFilter['status']),
})

/**
 * Returns the writes of a finished run's further copies in its app's log. The list of its status has the run, because its end was
 * counted with it. Requests whose id says which run it is need no copy.
 */
export const logWrites = (run: Run): Write[] => {
  const { id: run_id, error_code, request_id } = run
  const entry = entryOf(run)
  const filters: Pick<LogFilter, 'error_code' | 'request_id'>[] = [
    ...(error_code === undefined ? [] : [{ error_code }]),
    ...(runOfRequest(request_id) === run_id ? [] : [{ request_id }]),
  ]
  return filters.map((filter) => AppLogEntity.replace({ ...entry, list: shardFor(listOf(filter), run_id) }))
}

const entryOf = (run: Run): Omit<AppLog, 'list'> => {
  const { id: run_id, app_id, installation_id, version, trigger, status, error_code, request_id, is_sandbox } = run
  const finished_at = run.finished_at ?? run.created_at
  return {
    app_id,
    run_id,
    request_id,
    installation_id,
    version,
    trigger,
    status,
    error_code,
    duration_ms: durationOf(run) ?? 0,
    is_sandbox,
    created_at: run.created_at,
    finished_at,
    expires_at: finished_at + LIMITS.appLogLife,
  }
}

/** Entries that one request looks through for those that match. A rarer combination continues on the next page. */
const LOOKED_THROUGH = 1_000

/**
 * Lists an app's log, newest first. Request, error code and status have lists of their own, of which the narrowest is read. Its
 * entries are then filtered by everything else, so a page costs at most {@link LOOKED_THROUGH} entries.
 * @throws `not_found` for another developer's app
 */
export const listLogs = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
  appId: string,
  { run_id, ...filter }: LogFilter,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AppLog>> => {
  const { id: app_id } = await loadOwnApp(deps, developerId, appId)
  const isNarrowed = [filter.request_id, filter.error_code, filter.status].some((value) => value !== undefined)
  const lists = isNarrowed ? [listOf(filter)] : STATUS_LISTS
  const fits = matcher(filter)
  if (run_id === undefined) {
    const own = filter.request_id === undefined ? undefined : runOfRequest(filter.request_id)
    const first = own === undefined ? [] : await findEntry(deps, app_id, own, fits)
    return search(lists.flatMap(shardsOf), fits, options, (some, page) =>
      mergeLists(deps, app_id, some, { ...page, ...boundsOf(app_id, filter) }, first),
    )
  }
  return { items: await findEntry(deps, app_id, run_id, fits), next: undefined }
}

/** Finds a run's entry in the list of its status, which holds every run. */
const findEntry = async (
  { table }: Pick<Deps, 'table'>,
  app_id: string,
  run_id: string,
  fits: (entry: AppLog) => boolean,
): Promise<AppLog[]> => {
  const copies = await table.getAll(placesInLog(app_id, run_id).map((place) => AppLogEntity.ref(place)))
  return copies.filter((copy) => copy !== undefined && fits(copy)) as AppLog[]
}

/** Returns a test for everything that the chosen list doesn't already guarantee. */
const matcher =
  ({ request_id, error_code, status, installation_id, version, place, since, until }: Omit<LogFilter, 'run_id'>) =>
  (entry: AppLog): boolean =>
    (request_id === undefined || entry.request_id === request_id) &&
    (error_code === undefined || entry.error_code === error_code) &&
    (status === undefined || entry.status === status) &&
    (installation_id === undefined || entry.installation_id === installation_id) &&
    (version === undefined || entry.version === version) &&
    (place === undefined || entry.is_sandbox === (place === 'sandbox')) &&
    (since === undefined || entry.created_at >= since) &&
    (until === undefined || entry.created_at <= until)

/** Returns the bounds of a time in lists that are sorted by run id, which begins with the time of its creation. */
const boundsOf = (
  app_id: string,
  { since, until }: Pick<LogFilter, 'since' | 'until'>,
): Pick<QueryOptions, 'from' | 'to'> => {
  const at = (ms: number): string => AppLogEntity.key({ app_id, list: 'ALL', run_id: idFloor('run', ms) }).sk
  return {
    ...(since !== undefined && { from: at(Math.max(0, since)) }),
    ...(until !== undefined && { to: at(until + 1) }),
  }
}

type LogPage = Pick<QueryOptions, 'limit' | 'after'>

/** Reads on until a page is full of matches, or enough has been looked through. */
const search = async (
  lists: readonly string[],
  fits: (entry: AppLog) => boolean,
  { limit, after }: LogPage,
  read: (lists: readonly string[], page: LogPage) => Promise<Page<AppLog>>,
): Promise<Page<AppLog>> => {
  const found: AppLog[] = []
  let position = after
  for (let seen = 0; seen < LOOKED_THROUGH; ) {
    const page = await read(lists, {
      limit: found.length === 0 && seen === 0 ? limit : LIMITS.pageMax,
      after: position,
    })
    seen += page.items.length
    for (const entry of page.items) {
      if (!fits(entry)) continue
      if (found.length === limit) return { items: found, next: sortOf(found.at(-1)) }
      found.push(entry)
    }
    position = page.next
    if (position === undefined || page.items.length === 0) break
    if (found.length === limit) break
  }
  return { items: found, next: position }
}

const sortOf = (entry: AppLog | undefined): string | undefined => entry && AppLogEntity.key(entry).sk

const mergeLists = async (
  { table }: Pick<Deps, 'table'>,
  app_id: string,
  lists: readonly string[],
  options: Pick<QueryOptions, 'limit' | 'after' | 'from' | 'to'>,
  known: readonly AppLog[],
): Promise<Page<AppLog>> => {
  const isBefore = (entry: AppLog): boolean => options.after === undefined || AppLogEntity.key(entry).sk < options.after
  const pages = await Promise.all<Page<AppLog>>([
    { items: known.filter(isBefore), next: undefined },
    ...lists.map((list) => table.query(AppLogEntity, { app_id, list }, options)),
  ])
  const found = new Map(pages.flatMap(({ items }) => items).map((entry) => [entry.run_id, entry]))
  const merged = [...found.values()].sort((a, b) => (a.run_id < b.run_id ? 1 : -1))
  const items = merged.slice(0, options.limit)
  const last = items.at(-1)
  const isMore = merged.length > items.length || pages.some(({ next }) => next !== undefined)
  return { items, next: isMore && last ? AppLogEntity.key(last).sk : undefined }
}
