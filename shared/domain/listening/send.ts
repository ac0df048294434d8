import { setTimeout as pause } from 'node:timers/promises'
import type { Installation } from '../../entities/installations.ts'
import {
  ListenedMessageEntity,
  type ListenedRequest,
  ListenedRequestEntity,
  type Listener,
  ListenerEntity,
} from '../../entities/listening.ts'
import { newId } from '../../kernel/ids.ts'
import { ifUnchanged } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import type { OutgoingRequest, OutgoingResult } from '../ports.ts'
import { dropLease, isLive, listenerFor } from './lease.ts'
import { forgetMessages, openMessage, sealedMessage } from './message.ts'
import { unanswered, whatCame } from './result.ts'

/** What a request is about, for the developer who sees it pass: no secrets. */
export interface About {
  kind: ListenedRequest['kind']
  /** The event's type. */
  event: string
  /** The run's id, or the delivery's. */
  id: string
  attempt?: number
}

/**
 * Sends what is due to an installation's app: over the network or, while the app's developer listens and the installation
 * is the one in their sandbox, to them. Whoever sends can't tell the difference. An installation of a customer costs nothing
 * for this; one in a sandbox costs one read.
 */
export const sendToApp = async (
  deps: Deps,
  installation: Installation,
  request: OutgoingRequest,
  about: About,
): Promise<OutgoingResult> => {
  const listener = await listenerFor(deps, installation)
  return listener ? handOver(deps, listener, installation, request, about) : deps.http.send(request)
}

/** The wait between two looks for the answer. */
const SHORTEST = 100
const LONGEST = 400

const handOver = async (
  deps: Deps,
  listener: Listener,
  installation: Installation,
  request: OutgoingRequest,
  about: About,
): Promise<OutgoingResult> => {
  const begun = performance.now()
  const record = recordOf(deps, listener, installation, request, about)
  const message = await sealedMessage(deps, record, 'request', {
    method: request.method,
    url: request.url,
    headers: lowered(request.headers ?? {}),
    body: Buffer.from(request.body ?? '').toString('base64'),
    ...(request.connectRetryPausesMs && { connectRetryPausesMs: request.connectRetryPausesMs }),
  })
  await deps.table.transact([ListenedRequestEntity.create(record), ListenedMessageEntity.create(message)])
  const outcome = await answerTo(deps, record, () => request.deadlineMs - (performance.now() - begun))
  await forgetMessages(deps, record.id).catch((error) => {
    // They expire by themselves; the answer must not get lost over it.
    deps.log.warn('messages of a listened request stay', { listened_request_id: record.id, error })
  })
  return { ...outcome, durationMs: Math.round(performance.now() - begun) } as OutgoingResult
}

const recordOf = (
  { clock }: Deps,
  { developer_id }: Listener,
  { id: installation_id, app_id, workspace_id }: Installation,
  { deadlineMs, maxResponseBytes }: OutgoingRequest,
  { kind, event, id: subject_id, attempt }: About,
): ListenedRequest => {
  const now = clock.now()
  return {
    id: newId('listenedRequest', now),
    developer_id,
    app_id,
    workspace_id,
    installation_id,
    kind,
    event,
    subject_id,
    attempt,
    state: 'waiting',
    max_response_bytes: maxResponseBytes,
    deadline_at: now + deadlineMs,
    created_at: now,
  }
}

/** As they go out: see `adapters/outgoing-http/headers.ts`. */
const lowered = (headers: Record<string, string>): Record<string, string> => ({
  'accept-encoding': 'identity',
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
})

type Outcome = Omit<OutgoingResult, 'durationMs'>

/**
 * Waits for the answer by reading the record. Without a listener, a request that nobody took is a connection that was never
 * made; one that was taken may have been seen, so it has until its deadline.
 * @param left ms until the deadline
 */
const answerTo = async (deps: Deps, asked: ListenedRequest, left: () => number): Promise<Outcome> => {
  for (let wait = SHORTEST; ; wait = Math.min(wait * 1.3, LONGEST)) {
    await pause(Math.max(1, Math.min(wait, left())))
    const [request, listener] = await deps.table.getAll([
      { entity: ListenedRequestEntity, key: ListenedRequestEntity.key(asked) },
      { entity: ListenerEntity, key: ListenerEntity.key(asked) },
    ] as const)
    if (!request) return unanswered('waiting')
    if (request.state === 'answered') {
      const answer = await openMessage(deps, asked.id, 'answer')
      return answer ? whatCame(answer, asked.max_response_bytes) : unanswered('taken')
    }
    const late = left() <= 0 || deps.clock.now() >= asked.deadline_at
    const gone = request.state === 'waiting' && !isLive(deps, listener)
    if (!(late || gone) || !(await giveUp(deps, request))) continue
    // Whoever took it would have said by now that nothing came: they are lost, and take nothing more.
    if (request.taken_by !== undefined) await dropLease(deps, request, request.taken_by)
    return unanswered(request.state)
  }
}

/** @returns false when it was taken or answered at this moment */
const giveUp = async ({ table }: Deps, request: ListenedRequest): Promise<boolean> => {
  return ifUnchanged(
    table.transact([
      ListenedRequestEntity.update(request, { set: { state: 'over' } }, { where: { state: request.state } }),
    ]),
  )
}
