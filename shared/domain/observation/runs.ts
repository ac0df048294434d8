import { InstallationEntity } from '../../entities/installations.ts'
import {
  appRunsInState,
  OBSERVED_STATES,
  type ObservedRun,
  ObservedRunEntity,
  type ObservedState,
  observedState,
  runsInState,
} from '../../entities/observed-runs.ts'
import { RUN_STATUSES, type Run, RunEntity, runsByStatus, WorkspaceRunEntity } from '../../entities/runs.ts'
import { DAY } from '../../kernel/clock.ts'
import { idFloor } from '../../kernel/ids.ts'
import { firstKeys, type ListSource } from '../../table/lists.ts'
import type { Ref } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import type { RunFilter } from './runs-schema.ts'

/** Records behind the page that are counted for `total`. */
export const COUNTED_AHEAD = 1_000

interface Place {
  limit: number
  offset: number
}

/**
 * A page of all runs, newest first. Up to its end, and for {@link COUNTED_AHEAD} beyond, keys are read; then the page’s runs: so it
 * costs the same however many runs there are. @returns also how many were found up to there
 */
export const listRuns = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  filter: RunFilter,
  { limit, offset }: Place,
): Promise<{ runs: Run[]; total: number }> => {
  const refs = await find(deps, filter, offset + limit + COUNTED_AHEAD)
  const page = await deps.table.getAll(refs.slice(offset, offset + limit))
  const keys = (page as (Run | ObservedRun | undefined)[]).filter((item) => item !== undefined)
  const runs = await deps.table.getAll(keys.map((item) => ({ entity: RunEntity, key: RunEntity.key(keyOf(item)) })))
  return { runs: runs.filter((run) => run !== undefined), total: refs.length }
}

const keyOf = (item: Run | ObservedRun) => ({
  installation_id: item.installation_id,
  id: 'run_id' in item ? item.run_id : item.id,
})

const find = async (deps: Pick<Deps, 'table' | 'clock'>, filter: RunFilter, count: number): Promise<Ref[]> => {
  const kept = deps.clock.now() - deps.table.payloadDays * DAY
  const since = Math.max(filter.since ?? 0, kept)
  const floor = idFloor('run', since)
  if (filter.workspace !== undefined && filter.app !== undefined) {
    const sources = await ofInstallations(deps, filter.workspace, filter.app, filter.status)
    return listed(deps, RunEntity, sources, count, floor)
  }
  if (filter.workspace !== undefined) return ofWorkspace(deps, filter.workspace, filter.status, count, floor)
  if (filter.app !== undefined) {
    const { app } = filter
    const sources = statesOf(filter.status).map((state) => ({ list: appRunsInState(app, state) }))
    return listed(deps, ObservedRunEntity, sources, count, floor)
  }
  return ofAll(deps, { status: filter.status, since }, count, floor)
}

const statesOf = (state: ObservedState | undefined): readonly ObservedState[] =>
  state === undefined ? OBSERVED_STATES : [state]

const listed = async (
  { table }: Pick<Deps, 'table'>,
  entity: typeof RunEntity | typeof ObservedRunEntity,
  sources: readonly ListSource[],
  count: number,
  floor: string,
): Promise<Ref[]> => {
  if (sources.length === 0) return []
  const keys = await firstKeys(table, sources, count)
  return keys.filter(({ sort }) => sort >= floor).map(({ key }) => ({ entity, key }))
}

/** An app has been installed in a workspace now and, uninstalled and installed again, before. */
const ofInstallations = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  appId: string,
  state: ObservedState | undefined,
): Promise<ListSource[]> => {
  const { items } = await table.query(InstallationEntity, { workspace_id }, { limit: 1_000 })
  const statuses = RUN_STATUSES.filter((status) => state === undefined || observedState(status) === state)
  return items
    .filter(({ app_id }) => app_id === appId)
    .flatMap(({ id }) => statuses.map((status) => ({ list: runsByStatus(id, status) })))
}

const ofWorkspace = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  state: ObservedState | undefined,
  limit: number,
  floor: string,
): Promise<Ref[]> => {
  if (state === undefined) {
    const from = WorkspaceRunEntity.key({ workspace_id, run_id: floor }).sk
    const { items } = await table.query(WorkspaceRunEntity, { workspace_id }, { limit, from })
    return items.map(({ installation_id, run_id }) => ({
      entity: RunEntity,
      key: RunEntity.key({ installation_id, id: run_id }),
    }))
  }
  const sk = (run_id: string) => ObservedRunEntity.key({ workspace_id, state, run_id }).sk
  const { items } = await table.query(ObservedRunEntity, { workspace_id }, { limit, from: sk(floor), to: sk('~') })
  return items.map((item) => ({ entity: ObservedRunEntity, key: ObservedRunEntity.key(item) }))
}

/** They are kept by day: from today back, so many days at once as there were before, until there are enough. */
const ofAll = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { status, since }: { status: ObservedState | undefined; since: number },
  count: number,
  floor: string,
): Promise<Ref[]> => {
  const now = deps.clock.now()
  const entity = status === undefined ? RunEntity : ObservedRunEntity
  const directory = status === undefined ? 'runs' : runsInState(status)
  const found: Ref[] = []
  const midnight = now - (now % DAY)
  for (let back = 0, days = 1; found.length < count; back += days, days = back) {
    const sources = Array.from({ length: days }, (_, i) => midnight - (back + i) * DAY)
      .filter((day) => day + DAY > since)
      .map((day) => ({ directory, day }))
    if (sources.length === 0) break
    found.push(...(await listed(deps, entity, sources, count - found.length, floor)))
  }
  return found
}
