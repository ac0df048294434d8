import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import type { Ref } from '#shared/table/entity.ts'
import { firstKeys, type ListSource } from '#shared/table/lists.ts'
import { RUN_STATUSES, type Run, RunEntity, runsWithStatus, WorkspaceRunEntity } from '#shared/work/runs/index.ts'
import { listActiveIn, listActiveOfApp, listAllActive } from '../observed-runs/active-runs.ts'
import {
  type ActiveRun,
  appRunsInState,
  ENDED_STATES,
  type EndedState,
  type ObservedRun,
  ObservedRunEntity,
  type ObservedState,
  observedState,
  runsInState,
} from '../observed-runs/entity.ts'
import type { RunFilter } from './runs-schema.ts'

/** Maximum number of records counted beyond the page for `total`. */
export const COUNTED_AHEAD = 1_000

interface Place {
  limit: number
  offset: number
}

/**
 * Lists a page of all runs, newest first. Reads keys up to {@link COUNTED_AHEAD} entries beyond the page, then the
 * page's runs, so the cost doesn't depend on the number of runs.
 * @returns the runs and the number of keys found
 */
export const listObservedRuns = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  filter: RunFilter,
  { limit, offset }: Place,
): Promise<{ runs: Run[]; total: number }> => {
  const refs = await findRefs(deps, filter, offset + limit + COUNTED_AHEAD)
  const page = await deps.table.getAll(refs.slice(offset, offset + limit).map(({ ref }) => ref))
  const keys = (page as (Run | ObservedRun | undefined)[]).filter((item) => item !== undefined)
  const runs = await deps.table.getAll(keys.map((item) => RunEntity.ref(keyOf(item))))
  return { runs: runs.filter((run) => run !== undefined), total: refs.length }
}

const keyOf = (item: Run | ObservedRun) => ({
  installation_id: item.installation_id,
  id: 'run_id' in item ? item.run_id : item.id,
})

/** A run's record or index entry, at its place in the order of runs. */
interface Found {
  sort: string
  ref: Ref
}

const findRefs = async (deps: Pick<Deps, 'table' | 'clock'>, filter: RunFilter, count: number): Promise<Found[]> => {
  const kept = deps.clock.now() - deps.table.payloadDays * DAY
  const since = Math.max(filter.since ?? 0, kept)
  const floor = idFloor('run', since)
  const [active, indexed] = await Promise.all([
    listActive(deps, filter),
    findIndexed(deps, { ...filter, since }, count, floor),
  ])
  const begun = active
    .filter(({ run_id }) => run_id >= floor)
    .map(({ installation_id, run_id }) => ({ sort: run_id, ref: RunEntity.ref({ installation_id, id: run_id }) }))
  const both = new Map([...begun, ...indexed].map((found) => [found.sort, found]))
  return [...both.values()].sort((a, b) => (a.sort < b.sort ? 1 : -1)).slice(0, count)
}

/** Lists the active runs that no index of the filter has. */
const listActive = async (deps: Pick<Deps, 'table'>, { app, workspace, status }: RunFilter): Promise<ActiveRun[]> => {
  if (status !== undefined && status !== 'active') return []
  if (workspace !== undefined) return app === undefined && status ? listActiveIn(deps, workspace) : []
  if (app !== undefined) return listActiveOfApp(deps, app)
  return status ? listAllActive(deps) : []
}

const findIndexed = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  filter: RunFilter & { since: number },
  count: number,
  floor: string,
): Promise<Found[]> => {
  const { since } = filter
  if (filter.workspace !== undefined && filter.app !== undefined) {
    const sources = await listInstallationSources(deps, filter.workspace, filter.app, filter.status)
    return listRefs(deps, RunEntity, sources, count, floor)
  }
  if (filter.workspace !== undefined) return listWorkspaceRefs(deps, filter.workspace, filter.status, count, floor)
  if (filter.app !== undefined) {
    const { app } = filter
    const sources = endedStates(filter.status).map((state) => ({ list: appRunsInState(app, state) }))
    return listRefs(deps, ObservedRunEntity, sources, count, floor)
  }
  return listAllRefs(deps, { status: filter.status, since }, count, floor)
}

/** Returns the indexed states of ended runs. Active runs have no index entries. */
const endedStates = (state: ObservedState | undefined): readonly EndedState[] =>
  ENDED_STATES.filter((ended) => state === undefined || state === ended)

const listRefs = async (
  { table }: Pick<Deps, 'table'>,
  entity: typeof RunEntity | typeof ObservedRunEntity,
  sources: readonly ListSource[],
  count: number,
  floor: string,
): Promise<Found[]> => {
  if (sources.length === 0) return []
  const keys = await firstKeys(table, sources, count)
  return keys.filter(({ sort }) => sort >= floor).map(({ key, sort }) => ({ sort, ref: { entity, key } }))
}

/** An app has several installations in a workspace if it was uninstalled and installed again. */
const listInstallationSources = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  appId: string,
  state: ObservedState | undefined,
): Promise<ListSource[]> => {
  const { items } = await table.query(InstallationEntity, { workspace_id }, { limit: 1_000 })
  const statuses = RUN_STATUSES.filter((status) => state === undefined || observedState(status) === state)
  const own = items.filter(({ app_id }) => app_id === appId).map(({ id }) => id)
  return runsWithStatus({ table }, own, statuses)
}

const listWorkspaceRefs = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  state: ObservedState | undefined,
  limit: number,
  floor: string,
): Promise<Found[]> => {
  if (state === undefined) {
    const from = WorkspaceRunEntity.key({ workspace_id, run_id: floor }).sk
    const { items } = await table.query(WorkspaceRunEntity, { workspace_id }, { limit, from })
    return items.map(({ installation_id, run_id }) => ({
      sort: run_id,
      ref: RunEntity.ref({ installation_id, id: run_id }),
    }))
  }
  if (state === 'active') return []
  const sk = (run_id: string) => ObservedRunEntity.key({ workspace_id, state, run_id }).sk
  const { items } = await table.query(ObservedRunEntity, { workspace_id }, { limit, from: sk(floor), to: sk('~') })
  return items.map((item) => ({ sort: item.run_id, ref: ObservedRunEntity.ref(item) }))
}

/** Runs are partitioned by day. Reads from today backwards, doubling the number of days, until enough are found. */
const listAllRefs = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { status, since }: { status: ObservedState | undefined; since: number },
  count: number,
  floor: string,
): Promise<Found[]> => {
  if (status === 'active') return []
  const now = deps.clock.now()
  const entity = status === undefined ? RunEntity : ObservedRunEntity
  const directory = status === undefined ? 'runs' : runsInState(status)
  const found: Found[] = []
  const midnight = now - (now % DAY)
  for (let back = 0, days = 1; found.length < count; back += days, days = back) {
    const sources = Array.from({ length: days }, (_, i) => midnight - (back + i) * DAY)
      .filter((day) => day + DAY > since)
      .map((day) => ({ directory, day }))
    if (sources.length === 0) break
    found.push(...(await listRefs(deps, entity, sources, count - found.length, floor)))
  }
  return found
}
