import { InstallationEntity } from '../../entities/installations.ts'
import {
  RUN_STATUSES,
  type Run,
  RunEntity,
  type RunStatus,
  runsByStatus,
  type Step,
  StepEntity,
  WorkspaceRunEntity,
} from '../../entities/runs.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { mergedPage } from '../../table/lists.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { ANSWER_BYTES, fittingPage, payloadBytes, textBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { orchestratorId } from '../orchestrator/principal.ts'
import { shownTo } from '../shown-to.ts'
import { loadRun, noSuchRun, type RunKey } from './change.ts'
import { leftOut, presentRun, presentStep } from './present.ts'
import type { RunView, StepView } from './schemas.ts'

type Reading = Pick<Deps, 'table' | 'objects'>

/** A run's steps in order; at most 200. */
export const stepsOf = async ({ table }: Pick<Deps, 'table'>, runId: string): Promise<Step[]> => {
  const { items } = await table.query(StepEntity, { run_id: runId }, { limit: LIMITS.stepsPerRun, ascending: true })
  return items
}

/** A run with its steps. @param viewer as of {@link loadRun} @throws `not_found` */
export const readRun = async (
  deps: Reading,
  key: RunKey,
  viewer?: string,
): Promise<RunView & { steps: StepView[] }> => {
  const [run, steps] = await Promise.all([loadRun(deps, key, viewer), stepsOf(deps, key.id)])
  return viewWithSteps(deps, run, steps)
}

/** Outputs that would not fit into the answer beside the run's own input and output are left out, and say so. */
export const viewWithSteps = async (deps: Reading, run: Run, steps: Step[]) => {
  let bytes = runBytes(run)
  const fits = steps.map(({ output }) => {
    bytes += payloadBytes(output)
    return bytes <= ANSWER_BYTES
  })
  return {
    ...(await presentRun(deps, run)),
    steps: await Promise.all(
      steps.map((step, i) =>
        presentStep(deps, fits[i] ? step : { ...step, output: { json: JSON.stringify(leftOut(step.output)) } }),
      ),
    ),
  }
}

const runBytes = ({ input, output, error_message = '' }: Run): number =>
  payloadBytes(input) + payloadBytes(output) + textBytes(error_message)

/** The index may lag behind the record, so the status is looked at again. */
const isShown =
  (viewer: string | undefined, status: RunStatus | undefined) =>
  (run: Run): boolean =>
    shownTo(viewer, run) && (status === undefined || run.status === status)

/**
 * An installation's runs, newest first; those of one status from the index that keeps them by status.
 * @param viewer the person who looks, where one does: the chats of others are left out, so a page may hold fewer than its limit
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
    : table.listed(RunEntity, runsByStatus(installationId, status), options))
  const fitting = fittingPage(page, runBytes, (run) => (status === undefined ? RunEntity.key(run).sk : run.id))
  return { ...fitting, items: fitting.items.filter(isShown(viewer, status)) }
}

/**
 * A workspace's runs of every installation, newest first, as one of its people sees them: the chats of others are left out,
 * so a page may hold fewer than its limit.
 */
export const listForWorkspace = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  viewerId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Run>> => {
  const page = await table.query(WorkspaceRunEntity, { workspace_id: workspaceId }, options)
  const seen = page.items.filter((ref) => shownTo(viewerId, ref))
  const runs = (await table.getAll(
    seen.map((ref) => ({
      entity: RunEntity,
      key: RunEntity.key({ installation_id: ref.installation_id, id: ref.run_id }),
    })),
  )) as (Run | undefined)[]
  return fittingPage(
    { items: runs.filter((run): run is Run => run !== undefined), next: page.next },
    runBytes,
    (run) => WorkspaceRunEntity.key({ workspace_id: workspaceId, run_id: run.id }).sk,
  )
}

/** Installations whose runs a narrowed list is merged from: more than a workspace has at once, those of the past included. */
const MERGED_INSTALLATIONS = 100

/**
 * The same, of one status or one agent or both, merged from the lists that each installation keeps: it costs with the number of
 * agents, and nothing at each change of a run.
 */
export const narrowedForWorkspace = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  viewerId: string,
  { status, installation_id }: { status?: RunStatus | undefined; installation_id?: string | undefined },
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<Run>> => {
  const installed = installation_id
    ? [await table.get(InstallationEntity, { workspace_id: workspaceId, id: installation_id })]
    : (await table.query(InstallationEntity, { workspace_id: workspaceId }, { limit: MERGED_INSTALLATIONS })).items
  // A person's own orchestrator has no record.
  const own = orchestratorId(workspaceId, viewerId)
  const ids = [
    ...installed.flatMap((installation) => installation?.id ?? []),
    ...(installation_id === undefined || installation_id === own ? [own] : []),
  ]
  const statuses = status === undefined ? RUN_STATUSES : [status]
  const lists = ids.flatMap((id) => statuses.map((each) => ({ list: runsByStatus(id, each) })))
  if (lists.length === 0) return { items: [], next: undefined }
  const page = await mergedPage(table, RunEntity, lists, options)
  const fitting = fittingPage(page, runBytes, (run) => run.id)
  return { ...fitting, items: fitting.items.filter(isShown(viewerId, status)) }
}

/** Where a workspace's run is kept. @throws `not_found` also for another workspace's, and for one of another person's chat */
export const keyInWorkspace = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  runId: string,
  viewerId: string,
): Promise<RunKey> => {
  const ref = await table.get(WorkspaceRunEntity, { workspace_id: workspaceId, run_id: runId })
  if (!ref || !shownTo(viewerId, ref)) throw noSuchRun()
  return { installation_id: ref.installation_id, id: runId }
}

/** A run with its steps, for the people of its workspace. @throws `not_found` */
export const readForWorkspace = async (deps: Reading, workspaceId: string, viewerId: string, runId: string) =>
  readRun(deps, await keyInWorkspace(deps, workspaceId, runId, viewerId))
