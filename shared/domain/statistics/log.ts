import type { Run } from '../../entities/runs.ts'
import { type AppLog, AppLogEntity } from '../../entities/statistics.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Write } from '../../table/entity.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { ownApp } from '../apps/read.ts'
import type { Deps } from '../deps.ts'
import { durationOf } from '../runs/present.ts'
import type { LogFilter } from './schemas.ts'

/** The list that a search goes to. Agents choose their error codes, so these are hashed into keys of one length. */
const listOf = ({ status, error_code, request_id }: Omit<LogFilter, 'run_id'>): string => {
  if (request_id !== undefined) return `REQUEST#${sha256(request_id)}`
  if (error_code !== undefined) return `ERROR#${sha256(error_code)}`
  return status === undefined ? 'ALL' : `STATUS#${status}`
}

/** A finished run's places in its app's log. */
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
 * An app's log, the newest run first. Each search is a range of its own, so it costs what it returns.
 * @throws `not_found` for another developer's app
 */
export const listLogs = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
  appId: string,
  { run_id, ...filter }: LogFilter,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AppLog>> => {
  const { id: app_id } = await ownApp(deps, developerId, appId)
  const list = listOf(filter)
  if (run_id === undefined) return deps.table.query(AppLogEntity, { app_id, list }, options)
  const entry = await deps.table.get(AppLogEntity, { app_id, list, run_id })
  return { items: entry ? [entry] : [], next: undefined }
}
