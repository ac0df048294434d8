import { cutPageToResponseSize, payloadBytes, RESPONSE_BYTES, textBytes } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo } from '#shared/foundation/work/index.ts'
import { type ListSource, mergedPage } from '#shared/table/lists.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { loadRun, type RunKey, runNotFound } from './change.ts'
import { type Run, RunEntity, runsByStatus, type Step, WorkspaceRunEntity } from './entity.ts'
import { omittedValue, originOf, presentRun, presentStep } from './present.ts'
import type { RunView, StepView } from './schemas.ts'
import { runsWithStatus } from './slots.ts'
import { isActive, type RunStatus } from './status.ts'
import { loadSteps } from './steps.ts'

type Reading = Pick<Deps, 'table' | 'objects' | 'settings'>

/**
 * Loads a run and its steps in one round trip.
 * @param viewer see {@link loadRun}
 * @param known the run if it was just read
 * @throws `not_found`
 */
export const loadRunWithSteps = (
  deps: Pick<Deps, 'table'>,
  key: RunKey,
  viewer?: string,
  known?: Run,
): Promise<[run: Run, steps: Step[]]> => {
  const run = known ?? loadRun(deps, key, viewer)
  return Promise.all([run, loadSteps(deps, key.id, run)])
}

/** Loads a run with its steps. @param viewer see {@link loadRun} @throws `not_found` */
export const readRun = async (
  deps: Reading,
  key: RunKey,
  viewer?: string,
  known?: Run,
): Promise<RunView & { steps: StepView[] }> => {
  const [run, steps] = await loadRunWithSteps(deps, key, viewer, known)
  return viewWithSteps(deps, run, steps)
}

/** Presents a run with its steps. Replaces step outputs by a placeholder once the response is full. */
export const viewWithSteps = async (deps: Reading, run: Run, steps: Step[]) => {
  let bytes = runBytes(run)
  const fits = steps.map(({ output }) => {
    bytes += payloadBytes(output)
    return bytes <= RESPONSE_BYTES
  })
  return {
    ...(await presentRun(deps, run)),
    steps: await Promise.all(
      steps.map((step, i) =>
        presentStep(deps, fits[i] ? step : { ...step, output: { json: JSON.stringify(omittedValue(step.output)) } }),
      ),
    ),
  }
}

const runBytes = ({ input, output, error_message = '' }: Run): number =>
  payloadBytes(input) + payloadBytes(output) + textBytes(error_message)

/** Filters out private runs of others, and checks the status again because the index may lag behind the record. */
const isShown =
  (viewer: string | undefined, status: RunStatus | undefined) =>
  (run: Run): boolean =>
    isVisibleTo(viewer, run) && (status === undefined || run.status === status)

/** Active runs read at once and at most for one page. An installation has at most 55 of them. */
const READ_AT_ONCE = 60
const LOOKED_AT = 1_000

/**
 * Lists runs of one active status. All active runs share a list, and the others are left out here: few of them are
 * queued for long, and an installation has few active ones.
 */
const listActive = async (
  { table }: Pick<Deps, 'table'>,
  lists: readonly ListSource[],
  { limit, after }: Pick<QueryOptions, 'limit' | 'after'>,
  isWanted: (run: Run) => boolean,
): Promise<Page<Run>> => {
  const items: Run[] = []
  let next = after
  for (let looked = 0; looked < LOOKED_AT; looked += READ_AT_ONCE) {
    const page = await mergedPage(table, RunEntity, lists, { limit: READ_AT_ONCE, after: next })
    items.push(...page.items.filter(isWanted))
    next = page.next
    if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.id }
    if (next === undefined) break
  }
  return { items, next }
}

/**
 * Lists an installation's runs, newest first. With a status, it reads the index of that status.
 * @param viewer person for whom runs are listed, if any; others' chats are left out, so a page may be below its limit
 */
export const listRuns = async (
  { table }: Pick<Deps, 'table'>,
  installationId: string,
  status: RunStatus | undefined,
  options: Pick<QueryOptions, 'limit' | 'after'>,
  viewer?: string,
): Promise<Page<Run>> => {
  const page = await (status === undefined
    ? table.query(RunEntity, { installation_id: installationId }, options)
    : isActive(status)
      ? listActive(
          { table },
          await runsWithStatus({ table }, [installationId], [status]),
          options,
          isShown(viewer, status),
        )
      : table.listed(RunEntity, runsByStatus(installationId, status), options))
  const fitting = cutPageToResponseSize(page, runBytes, (run) =>
    status === undefined ? RunEntity.key(run).sk : run.id,
  )
  return { ...fitting, items: fitting.items.filter(isShown(viewer, status)) }
}

/** Finds the key of a workspace's run. @throws `not_found` also for another workspace's or another person's private run */
export const findRunKey = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  runId: string,
  viewerId: string,
): Promise<RunKey> => {
  const ref = await table.get(WorkspaceRunEntity, { workspace_id: workspaceId, run_id: runId })
  if (!ref || !isVisibleTo(viewerId, ref)) throw runNotFound()
  return { installation_id: ref.installation_id, id: runId }
}

/** Loads a run with its steps, for a member of its workspace. @throws `not_found` */
export const readRunForWorkspace = async (deps: Reading, workspaceId: string, viewerId: string, runId: string) => {
  const key = await findRunKey(deps, workspaceId, runId, viewerId)
  const [run, steps] = await loadRunWithSteps(deps, key)
  return { ...(await viewWithSteps(deps, run, steps)), ...originOf(run) }
}
