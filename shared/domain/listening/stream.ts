import { setTimeout as pause } from 'node:timers/promises'
import { type ListenedRequest, ListenedRequestEntity, type Listener } from '../../entities/listening.ts'
import { iso, MINUTE } from '../../kernel/clock.ts'
import { idFloor } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import { renewLease } from './lease.ts'
import { openMessage, type RequestMessage } from './message.ts'

type Listening = Pick<Deps, 'table' | 'clock' | 'keys' | 'objects'>

export interface ListenEvent {
  /** `<listener>-<number>`: what a listener that connects again has seen last. */
  id?: string
  event: 'ready' | 'request' | 'replaced'
  data: object
}

/** Somebody else listens for this app now: connecting again would take it back, which is a person's decision. */
export const REPLACED: ListenEvent = {
  event: 'replaced',
  data: { message: 'Another listener of yours took over for this app.' },
}

/** The wait between two looks: short while requests come, longer while it is quiet. */
const SHORTEST = 150
const LONGEST = 600

/** Requests live half a minute; ids of one moment may be written in any order, so each look goes this far back. */
const WINDOW = MINUTE

/**
 * A listener's requests as they come, until `signal` or until another connection took over. A look that found nothing gives
 * undefined, so that the connection can be kept awake.
 * @param after the number of the last request that this listener has seen; what it was sent after that, and lost with its
 *   connection, is sent again. Undefined for a new one: what another one took may have been seen, and is not repeated.
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
      const data = await presented(deps, lost)
      if (data) yield { id: number(lost.taken_n ?? 0), event: 'request', data }
    }
  }
  let renewAt = deps.clock.now() + LIMITS.listenerBeat
  for (let wait = SHORTEST; !signal.aborted; ) {
    let found = false
    for (const waiting of await recent(deps, listener, 'waiting')) {
      if (signal.aborted) return
      const taken = await take(deps, waiting, id, Math.max(last + 1, deps.clock.now()))
      const data = taken && (await presented(deps, taken))
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

/** The listener's requests of the last minute in a state, oldest first. */
const recent = async (
  { table, clock }: Listening,
  { developer_id, app_id }: Listener,
  state: ListenedRequest['state'],
): Promise<ListenedRequest[]> => {
  const now = clock.now()
  const from = ListenedRequestEntity.key({ developer_id, id: idFloor('listenedRequest', now - WINDOW) }).sk
  const found: ListenedRequest[] = []
  let after: string | undefined
  do {
    const page = await table.query(
      ListenedRequestEntity,
      { developer_id },
      { limit: 100, ascending: true, from, ...(after !== undefined && { after }) },
    )
    found.push(...page.items.filter((one) => one.app_id === app_id && one.state === state && one.deadline_at > now))
    after = page.next
  } while (after !== undefined)
  return found
}

const sentAfter = async (deps: Listening, listener: Listener, after: number): Promise<ListenedRequest[]> =>
  (await recent(deps, listener, 'taken'))
    .filter(({ taken_by, taken_n = 0 }) => taken_by === listener.id && taken_n > after)
    .sort((a, b) => (a.taken_n ?? 0) - (b.taken_n ?? 0))

/** @returns undefined when nobody waits for it any more, or another connection was faster */
const take = async (
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

const presented = async (deps: Listening, request: ListenedRequest): Promise<object | undefined> => {
  const message = await openMessage(deps, request.id, 'request')
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
