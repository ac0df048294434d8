import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso, MINUTE } from '#shared/kernel/clock.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { allItems } from '#shared/table/pages.ts'
import { type ListenedRequest, ListenedRequestEntity, type Listener } from './entity.ts'
import { renewLease } from './lease.ts'
import { loadMessage, type RequestMessage } from './message.ts'

type Listening = Pick<Deps, 'table' | 'clock' | 'keys' | 'objects'>

interface ListenEvent {
  /** `<listener>-<number>`: the last request that a reconnecting listener has seen. */
  id?: string
  event: 'ready' | 'request' | 'replaced'
  data: object
}

/** Another listener took over this app. Taking it back is a person's decision, so a client that reconnects gets 204. */
const REPLACED: ListenEvent = {
  event: 'replaced',
  data: { message: 'Another of your listeners took over this app.' },
}

/** Pauses between two polls, in ms: short while requests arrive, longer when idle. */
const SHORTEST = 150
const LONGEST = 600

/**
 * Requests live for half a minute. Ids of the same moment may be written in any order, so each poll reads this far
 * back.
 */
const WINDOW = MINUTE

/**
 * Yields a listener's requests as they arrive, until `signal` aborts or another connection takes over. Yields undefined
 * when a poll found nothing.
 * @param after number of the last request that this listener has seen. Requests sent after it are sent again. Undefined
 *   for a new listener: requests that another listener took aren't repeated, because they may have been processed.
 */
export async function* listenEvents(
  deps: Listening,
  listener: Listener,
  after: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<ListenEvent | undefined> {
  const { id, app_id, workspace_id } = listener
  const number = (n: number): string => `${id}-${n}`
  let last = after ?? 0
  yield { id: number(last), event: 'ready', data: { listener: id, app_id, workspace_id } }
  if (after !== undefined) {
    for (const lost of await sentAfter(deps, listener, after)) {
      last = Math.max(last, lost.taken_n ?? 0)
      const data = await loadPresented(deps, lost)
      if (data) yield { id: number(lost.taken_n ?? 0), event: 'request', data }
    }
  }
  let renewAt = deps.clock.now() + LIMITS.listenerBeat
  for (let wait = SHORTEST; !signal.aborted; ) {
    let found = false
    for (const waiting of await listRecent(deps, listener, 'waiting')) {
      if (signal.aborted) return
      const taken = await claimRequest(deps, waiting, id, Math.max(last + 1, deps.clock.now()))
      const data = taken && (await loadPresented(deps, taken))
      if (!data) continue
      last = taken.taken_n ?? last
      found = true
      yield { id: number(last), event: 'request', data }
    }
    if (!found) yield undefined
    if (deps.clock.now() >= renewAt) {
      const other = await renewLease(deps, listener)
      if (other !== undefined) {
        if (other !== 'nobody' && other.id !== id) yield REPLACED
        return
      }
      renewAt = deps.clock.now() + LIMITS.listenerBeat
    }
    wait = found ? SHORTEST : Math.min(wait * 1.3, LONGEST)
    await pause(wait, undefined, { signal }).catch(() => {})
  }
}

/** Lists the listener's requests of the last minute in a given state, oldest first. */
const listRecent = async (
  { table, clock }: Listening,
  { developer_id, app_id }: Listener,
  state: ListenedRequest['state'],
): Promise<ListenedRequest[]> => {
  const now = clock.now()
  const from = ListenedRequestEntity.key({ developer_id, id: idFloor('listenedRequest', now - WINDOW) }).sk
  const all = await allItems((after) =>
    table.query(ListenedRequestEntity, { developer_id }, { limit: 100, ascending: true, from, after }),
  )
  return all.filter((one) => one.app_id === app_id && one.state === state && one.deadline_at > now)
}

const sentAfter = async (deps: Listening, listener: Listener, after: number): Promise<ListenedRequest[]> =>
  (await listRecent(deps, listener, 'taken'))
    .filter(({ taken_by, taken_n = 0 }) => taken_by === listener.id && taken_n > after)
    .sort((a, b) => (a.taken_n ?? 0) - (b.taken_n ?? 0))

/** @returns undefined when the sender stopped waiting or another connection took the request */
const claimRequest = async (
  { table }: Listening,
  request: ListenedRequest,
  taken_by: string,
  taken_n: number,
): Promise<ListenedRequest | undefined> => {
  const taken = { state: 'taken' as const, taken_by, taken_n }
  try {
    await table.transact([ListenedRequestEntity.update(request, { set: taken }, { where: { state: 'waiting' } })])
    return { ...request, ...taken }
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

const loadPresented = async (deps: Listening, request: ListenedRequest): Promise<object | undefined> => {
  const message = await loadMessage(deps, request.id, 'request')
  return message && presentRequest(request, message, deps.clock.now())
}

const presentRequest = (request: ListenedRequest, message: RequestMessage, now: number): object => {
  const { id, kind, event, subject_id, attempt, installation_id, deadline_at } = request
  const { method, url, headers, body, connectRetryPausesMs } = message
  return {
    id,
    kind,
    event,
    run_id: kind === 'run.execute' ? subject_id : null,
    delivery_id: kind === 'webhook' ? subject_id : null,
    attempt: attempt ?? null,
    installation_id,
    method,
    url,
    headers,
    body_base64: body,
    deadline_at: iso(deadline_at),
    time_left_ms: Math.max(0, deadline_at - now),
    connect_retry_pauses_ms: connectRetryPausesMs ?? [],
  }
}
