import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { durationOf, type Run } from '#shared/work/runs/index.ts'
import { type AppLog, AppLogEntity } from './entity.ts'
import type { LogFilter } from './schemas.ts'

/** Returns the list for a filter. Agents choose their error codes, so these are hashed into keys of fixed length. */
const listOf = ({ status, error_code, request_id }: Omit<LogFilter, 'run_id'>): string => {
  if (request_id !== undefined) return `REQUEST#${sha256(request_id)}`
  if (error_code !== undefined) return `ERROR#${sha256(error_code)}`
  return status === undefined ? 'ALL' : `STATUS#${status}`
}

/** Returns the writes of a finished run's copies in its app's log. */
export const logWrites = (run: Run): Write[] => {
  const { id: run_id, app_id, installation_id, version, trigger, status, error_code, request_id, is_sandbox } = run
  const finished_at = run.finished_at ?? run.created_at
  const entry: Omit<AppLog, 'list'> = {
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
  const filters: Omit<LogFilter, 'run_id'>[] = [
    {},
    { status: status as LogFilter['status'] },
    ...(error_code === undefined ? [] : [{ error_code }]),
    ...(request_id === undefined ? [] : [{ request_id }]),
  ]
  return filters.map((filter) => AppLogEntity.replace({ ...entry, list: listOf(filter) }))
}

/**
 * Lists an app's log, newest first. Each filter has its own list, so the cost depends only on the returned entries.
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
  const list = listOf(filter)
  if (run_id === undefined) return deps.table.query(AppLogEntity, { app_id, list }, options)
  const entry = await deps.table.get(AppLogEntity, { app_id, list, run_id })
  return { items: entry ? [entry] : [], next: undefined }
}
