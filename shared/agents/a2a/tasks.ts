import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { decodeCursor, encodeCursor } from '#shared/kernel/cursor.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import {
  cancelRunFor,
  finishIf,
  isActive,
  loadClientMessage,
  loadRun,
  loadSteps,
  type Run,
  RunEntity,
  viewWithSteps,
} from '#shared/work/runs/index.ts'
import { viaOf } from '../person-tools/index.ts'
import { type A2aScene, hashOfCaller } from './client.ts'
import { A2aTaskEntity } from './entity.ts'
import {
  assembled,
  contextOf,
  historyOf,
  loadOutput,
  outputArtifacts,
  presentStatus,
  saidBy,
  stateOf,
  stateTime,
  type Task,
  type TaskState,
  timestampOf,
} from './present.ts'

/**
 * Finds a task that the caller started at the agent.
 * @throws {A2aError} `TASK_NOT_FOUND` for every other id, so that ids reveal nothing
 */
export const findTask = async (
  { table }: Pick<Work, 'table'>,
  { client, agent }: A2aScene,
  id: string,
): Promise<Run> => {
  if (!isId('run', id)) throw new A2aError('TASK_NOT_FOUND')
  const installation_id = agent.installation.id
  const [task, run] = await table.getAll([
    A2aTaskEntity.ref({ installation_id, by_hash: hashOfCaller(client), run_id: id }),
    RunEntity.ref({ installation_id, id }),
  ] as const)
  if (!task || run?.protocol !== 'a2a' || run.followed_by !== client.by) throw new A2aError('TASK_NOT_FOUND')
  return run
}

export interface Shown {
  /** Newest messages to show. Default: all. */
  historyLength?: number | undefined
  withArtifacts?: boolean
}

/** Presents a task with its artifacts and messages. */
export const presentTask = async (
  work: Pick<Work, 'table' | 'objects' | 'settings'>,
  run: Run,
  { historyLength, withArtifacts = true }: Shown = {},
): Promise<Task> => {
  const output = await loadOutput(work, run)
  const needsSteps = run.step_count > 0 && (withArtifacts || historyLength !== 0)
  const { steps } = needsSteps ? await viewWithSteps(work, run, await loadSteps(work, run.id, run)) : { steps: [] }
  const messages = historyLength === 0 ? [] : historyOf(run, await loadClientMessage(work, run), steps)
  const history = historyLength === undefined ? messages : messages.slice(-historyLength)
  const artifacts = withArtifacts
    ? [
        ...assembled(steps.flatMap((step) => saidBy(run, step) ?? [])),
        ...(run.status === 'succeeded' ? outputArtifacts(output) : []),
      ]
    : []
  return {
    id: run.id,
    contextId: contextOf(run),
    status: await presentStatus(work, run, output),
    ...(artifacts.length > 0 && { artifacts }),
    ...(history.length > 0 && { history }),
    metadata: { 'aip/untrusted': true, 'aip/chain_depth': run.chain_depth },
  }
}

/** Cancels a task. @throws {A2aError} `TASK_NOT_FOUND`, `TASK_NOT_CANCELABLE` once it has ended */
export const cancelTask = async (work: Work, scene: A2aScene, id: string): Promise<Task> => {
  const run = await findTask(work, scene, id)
  if (!isActive(run.status)) throw new A2aError('TASK_NOT_CANCELABLE')
  await end(withoutAnswer(work), scene, run)
  const ended = await loadRun(work, run)
  // It ended in the meantime.
  if (ended.status !== 'cancelled') throw new A2aError('TASK_NOT_CANCELABLE')
  return presentTask(work, ended)
}

const end = async (work: Work, { client }: A2aScene, run: Run): Promise<void> => {
  if (client.kind === 'agent') return finishIf(work, run, () => true, { status: 'cancelled' })
  const { person, grant } = client.principal
  await cancelRunFor(work, run, { userId: person.id, via: viaOf(grant) }).catch((error) => {
    if (!(error instanceof PlatformError) || error.code !== 'run_already_finished') throw error
  })
}

export interface TaskFilters {
  contextId?: string | undefined
  state?: TaskState | undefined
  /** Epoch ms. A change at this very moment counts. */
  changedSince?: number | undefined
  pageSize: number
  pageToken?: string | undefined
  historyLength?: number | undefined
  withArtifacts: boolean
}

/** Newest tasks of a caller at an agent that a list looks at. Older ones are found by their id. */
const LISTED = 1_000

/** Lists the caller's tasks at the agent, those whose state changed last first. */
export const listTasks = async (work: Work, { client, agent }: A2aScene, filters: TaskFilters) => {
  const { contextId, state, changedSince, pageSize, pageToken, historyLength, withArtifacts } = filters
  const installation_id = agent.installation.id
  const { items } = await work.table.query(
    A2aTaskEntity,
    { installation_id, by_hash: hashOfCaller(client) },
    { limit: LISTED },
  )
  const runs = await work.table.getAll(items.map(({ run_id }) => RunEntity.ref({ installation_id, id: run_id })))
  const fitting = runs
    .filter((run): run is Run => run !== undefined)
    .filter((run) => contextId === undefined || contextOf(run) === contextId)
    .filter((run) => state === undefined || stateOf(run) === state)
    .filter((run) => changedSince === undefined || stateTime(run) >= changedSince)
    .map((run) => ({ run, place: `${String(stateTime(run)).padStart(13, '0')}#${run.id}` }))
    .sort((a, b) => (a.place < b.place ? 1 : -1))
  const ring = await work.keys.data()
  const bound = JSON.stringify([
    client.by,
    'a2a tasks',
    installation_id,
    contextId ?? null,
    state ?? null,
    changedSince ?? null,
  ])
  const after = pageToken === undefined ? undefined : positionOf(() => decodeCursor(ring, bound, pageToken))
  const rest = after === undefined ? fitting : fitting.filter(({ place }) => place < after)
  const page = rest.slice(0, pageSize)
  const last = rest.length > page.length ? page.at(-1) : undefined
  return {
    tasks: await Promise.all(page.map(({ run }) => presentTask(work, run, { historyLength, withArtifacts }))),
    nextPageToken: last ? encodeCursor(ring, bound, last.place) : '',
    pageSize,
    totalSize: fitting.length,
  }
}

const positionOf = (read: () => string): string => {
  try {
    return read()
  } catch {
    throw new A2aError('INVALID_PARAMS', { fields: { pageToken: ['isn’t one of this list'] } })
  }
}

/** A time of RFC 3339, with digits beyond the milliseconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3}(\d{0,6}))?(?:Z|[+-]\d\d:\d\d)$/i

/** Parses the time of a filter, to the next whole millisecond. @throws {A2aError} `INVALID_PARAMS` */
export const timeOf = (text: string): number => {
  const [whole, finer = ''] = TIME.exec(text) ?? []
  const at = whole === undefined ? Number.NaN : Date.parse(text) + (/[1-9]/.test(finer) ? 1 : 0)
  if (Number.isNaN(at)) {
    const example = timestampOf(0)
    throw new A2aError('INVALID_PARAMS', { fields: { statusTimestampAfter: [`must be a time, such as ${example}`] } })
  }
  return at
}
