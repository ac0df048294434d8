import { loadPayload } from '#shared/foundation/payloads/index.ts'
import { type Deps, type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { FollowedCallEntity, type Run, RunEntity, WorkspaceRunEntity } from './entity.ts'
import { finishIf } from './finish.ts'

/** Protocol over which a run's starter follows it, answers its questions and cancels it. */
export interface Following {
  protocol: NonNullable<Run['protocol']>
  /** The starter, as `callerName` names it. */
  by: string
  client_capabilities?: Record<string, unknown> | undefined
  /** A2A message that calls a declared tool. */
  message?: unknown
  /** A2A context, with its latest runs before this one. */
  context?: { id: string; run_ids: string[] } | undefined
  /** The starter is notified of changes. */
  pushes?: true | undefined
  /** Id of the starter's request and its session, by which the starter can cancel it. */
  request?: string | undefined
  /** The starter doesn't wait, so the run has a clock of its own. */
  detached?: boolean
}

/** Loads the A2A message that started a run: that of a tool call is kept apart from its arguments. @param input if it is loaded */
export const loadClientMessage = async (
  deps: Pick<Deps, 'objects'>,
  { client_message, input: stored }: Pick<Run, 'client_message' | 'input'>,
  input?: unknown,
): Promise<unknown> =>
  client_message
    ? loadPayload(deps, client_message)
    : ((input ?? (await loadPayload(deps, stored))) as { message?: unknown } | null)?.message

/** Longest time for which a request may be cancelled: requests wait for less. */
const CANCELLABLE = 10 * MINUTE

const callHash = ({ protocol, by }: Pick<Following, 'protocol' | 'by'>, request: string): string =>
  sha256(JSON.stringify([protocol, by, request]))

/** Writes that let the starter cancel the run by the request that started it. */
export const followedCallWrites = (
  { clock }: Pick<Deps, 'clock'>,
  { id: run_id, installation_id }: Run,
  following: Following | undefined,
): Write[] =>
  following?.request === undefined
    ? []
    : [
        FollowedCallEntity.replace({
          call_hash: callHash(following, following.request),
          run_id,
          installation_id,
          expires_at: clock.now() + CANCELLABLE,
        }),
      ]

/** Cancels the run that a request of this caller started, if it is still active. */
export const cancelFollowedCall = async (
  work: Work,
  following: Pick<Following, 'protocol' | 'by'>,
  request: string,
): Promise<void> => {
  const call = await work.table.get(FollowedCallEntity, { call_hash: callHash(following, request) })
  if (!call || call.expires_at <= work.clock.now()) return
  const key = { installation_id: call.installation_id, id: call.run_id }
  await finishIf(withoutAnswer(work), key, () => true, { status: 'cancelled' })
}

/** Finds a run that this caller follows over the protocol. Undefined for every other run, so that ids reveal nothing. */
export const findFollowedRun = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  { protocol, by }: Pick<Following, 'protocol' | 'by'>,
  id: string,
): Promise<Run | undefined> => {
  const place = await table.get(WorkspaceRunEntity, { workspace_id, run_id: id })
  const run = place && (await table.get(RunEntity, { installation_id: place.installation_id, id }))
  return run?.protocol === protocol && run.followed_by === by ? run : undefined
}
