import { InstallationEntity } from '#shared/access/installations/index.ts'
import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { shardNumber } from '#shared/kernel/shard.ts'
import { eachPage } from '#shared/table/pages.ts'
import { isActive, type Run, RunEntity } from '#shared/work/runs/index.ts'
import { ACTIVE_SHARDS, type ActiveRun, ActiveRunEntity } from './entity.ts'

type Reading = Pick<Deps, 'table'>

interface Place {
  app_id: string
  workspace_id: string
  run_id: string
}

/** Returns the key of a run's entry. */
export const activeKey = ({ app_id, workspace_id, run_id }: Place) => ({
  shard: shardOf(workspace_id),
  app_id,
  workspace_id,
  run_id,
})

const shardOf = (workspace_id: string): number => shardNumber(workspace_id, ACTIVE_SHARDS)

const keyOf = ({ id: run_id, app_id, workspace_id }: Run) => activeKey({ app_id, workspace_id, run_id })

/** Time for which an entry outlives its run at most, if the run's end is never counted. */
const OUTLIVES = 2 * DAY

/**
 * Adds an active run's entry, then checks that the run is still active. A worker with an outdated state thus corrects itself. If
 * it dies in between, its message comes again.
 */
export const listActiveRun = async ({ table }: Reading, run: Run): Promise<void> => {
  const { installation_id, version, is_sandbox, actor, created_at } = run
  await table.transact([
    ActiveRunEntity.replace({
      ...keyOf(run),
      installation_id,
      version,
      is_sandbox,
      user_id: actor?.id,
      created_at,
      expires_at: (run.ends_at ?? created_at) + OUTLIVES,
    }),
  ])
  const now = await table.get(RunEntity, run)
  if (!now || !isActive(now.status)) await unlistActiveRun({ table }, run)
}

/** Removes the entry of a run that has ended. */
export const unlistActiveRun = ({ table }: Reading, run: Run): Promise<void> =>
  table.transact([ActiveRunEntity.delete(keyOf(run))])

/** Most active runs that are read from one shard. Figures and lists leave out further ones. */
const MOST_OF_APP = 1_000
const MOST_OF_SHARD = 10_000
const PAGE = 1_000

const SHARDS = Array.from({ length: ACTIVE_SHARDS }, (_, shard) => shard)

/** Lists active runs of an app: up to 1,000 of each shard. */
export const listActiveOfApp = async ({ table }: Reading, app_id: string): Promise<ActiveRun[]> => {
  const options = { limit: MOST_OF_APP, ...rangeOf(app_id) }
  const pages = await Promise.all(SHARDS.map((shard) => table.query(ActiveRunEntity, { shard }, options)))
  return pages.flatMap(({ items }) => items)
}

/** Most installations of a workspace, including former ones, whose runs are read. */
const MOST_INSTALLATIONS = 1_000

/** Lists active runs in a workspace. The cost grows with the number of its apps: each has 55 active runs at most. */
export const listActiveIn = async ({ table }: Reading, workspace_id: string): Promise<ActiveRun[]> => {
  const { items } = await table.query(InstallationEntity, { workspace_id }, { limit: MOST_INSTALLATIONS })
  // People's own orchestrators have no record.
  const apps = new Set([ORCHESTRATOR_APP_ID, ...items.map(({ app_id }) => app_id)])
  const shard = shardOf(workspace_id)
  const pages = await Promise.all(
    [...apps].map((app_id) =>
      table.query(ActiveRunEntity, { shard }, { limit: PAGE, ...rangeOf(app_id, workspace_id) }),
    ),
  )
  return pages.flatMap((page) => page.items)
}

/** Lists active runs of the platform: up to 10,000 of each shard, 160,000 together. */
export const listAllActive = async ({ table }: Reading): Promise<ActiveRun[]> => {
  const shards = await Promise.all(
    SHARDS.map(async (shard) => {
      const found: ActiveRun[] = []
      const options = { limit: PAGE, consistent: false }
      for await (const items of eachPage((after) => table.query(ActiveRunEntity, { shard }, { ...options, after }))) {
        found.push(...items)
        if (found.length >= MOST_OF_SHARD) break
      }
      return found
    }),
  )
  return shards.flat()
}

/** Returns the range of an app's runs, in one workspace or in all. */
const rangeOf = (app_id: string, workspaceId?: string): { from: string; to: string } => {
  const sk = (end: '!' | '~') =>
    ActiveRunEntity.key({ shard: 0, app_id, workspace_id: workspaceId ?? end, run_id: end }).sk
  return { from: sk('!'), to: sk('~') }
}

/** Attempts to read figures while no run is counted. */
const ATTEMPTS = 3

/** Most active runs that are compared. Among more, some are counted at any moment, and figures may be ahead by these. */
const COMPARED = 1_000

/**
 * Reads figures that were counted together with the active runs that weren't. A run that is counted in between is read again,
 * so that it is neither missing nor doubled.
 */
export const readWithActive = async <T>(
  list: () => Promise<ActiveRun[]>,
  read: () => Promise<T>,
): Promise<[figures: T, active: ActiveRun[]]> => {
  let active = await list()
  for (let attempt = 1; ; attempt++) {
    const figures = await read()
    if (active.length === 0 || active.length > COMPARED || attempt === ATTEMPTS) return [figures, active]
    const now = await list()
    const left = new Set(now.map(({ run_id }) => run_id))
    if (active.every(({ run_id }) => left.has(run_id))) return [figures, active]
    active = now
  }
}
