import { setTimeout as pause } from 'node:timers/promises'
import type { Installation } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import type { OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { agentSpan } from '#shared/kernel/tracing/gen-ai.ts'
import { sendTraced } from '#shared/kernel/tracing/send.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { sandboxRefusal } from '../egress/sandbox-budget.ts'
import {
  ListenedMessageEntity,
  type ListenedRequest,
  ListenedRequestEntity,
  type Listener,
  ListenerEntity,
} from './entity.ts'
import { dropLease, findListener, isLive } from './lease.ts'
import { deleteMessages, loadMessage, sealMessage } from './message.ts'
import { outgoingResultOf, unansweredFailure } from './outgoing-result.ts'

/** Subject of a request, without secrets, shown to the developer who listens. */
export interface RequestSubject {
  kind: ListenedRequest['kind']
  /** The event's type. */
  event: string
  /** The run's id, or the delivery's. */
  id: string
  attempt?: number
  /** Of a `run.execute`. */
  version?: string
  conversation?: string
}

/**
 * Sends a request to an installation's app, within the budgets of sandboxes. While the app's developer is listening, requests for their sandbox
 * installation go to the listener instead of the network. The sender can't tell the difference. The lookup costs one
 * read for a sandbox installation and nothing for a customer's. The request carries the current trace, and to an agent its
 * caller's baggage.
 * @param looked the result of the lookup, if the caller just did it together with other reads
 */
export const sendToApp = (
  deps: Deps,
  installation: Installation,
  request: OutgoingRequest,
  about: RequestSubject,
  looked?: { listener: Listener | undefined },
): Promise<OutgoingResult> => {
  const { kind, event, id, attempt, version, conversation } = about
  const { app_id, app_name } = installation
  const agent = kind === 'run.execute' ? agentSpan({ id: app_id, name: app_name, version, conversation }) : undefined
  const span = {
    name: agent?.name ?? `${kind} ${event}`,
    attributes: {
      ...agent?.attributes,
      'platform.app_id': app_id,
      ...(kind === 'webhook' ? { 'platform.delivery_id': id } : { 'platform.run_id': id }),
      ...(attempt !== undefined && { 'platform.attempt': attempt }),
    },
    withBaggage: kind === 'run.execute',
  }
  const send = async (traced: OutgoingRequest): Promise<OutgoingResult> => {
    const { listener } = looked ?? { listener: await findListener(deps, installation) }
    if (isLive(deps, listener)) return forwardToListener(deps, listener, installation, traced, about)
    return (await sandboxRefusal(deps, installation, traced.url)) ?? deps.http.send(traced)
  }
  return sendTraced(send, request, span)
}

/** Pauses between two polls for the answer, in ms. */
const SHORTEST = 100
const LONGEST = 400

const forwardToListener = async (
  deps: Deps,
  listener: Listener,
  installation: Installation,
  request: OutgoingRequest,
  about: RequestSubject,
): Promise<OutgoingResult> => {
  const begun = performance.now()
  const record = recordOf(deps, listener, installation, request, about)
  const message = await sealMessage(deps, record, 'request', {
    method: request.method,
    url: request.url,
    headers: lowercased(request.headers ?? {}),
    body: Buffer.from(request.body ?? '').toString('base64'),
    ...(request.connectRetryPausesMs && { connectRetryPausesMs: request.connectRetryPausesMs }),
  })
  await deps.table.transact([ListenedRequestEntity.create(record), ListenedMessageEntity.create(message)])
  const left = () => (request.signal?.aborted ? 0 : request.deadlineMs - (performance.now() - begun))
  const outcome = await awaitAnswer(deps, record, left)
  await deleteMessages(deps, record.id).catch((error) => {
    // They expire by themselves, and the answer must not be lost because of them.
    deps.log.warn('could not delete the messages of a listened request', { listened_request_id: record.id, error })
  })
  return { ...outcome, durationMs: Math.round(performance.now() - begun) } as OutgoingResult
}

const recordOf = (
  { clock }: Deps,
  { developer_id }: Listener,
  { id: installation_id, app_id, workspace_id }: Installation,
  { deadlineMs, maxResponseBytes }: OutgoingRequest,
  { kind, event, id: subject_id, attempt }: RequestSubject,
): ListenedRequest => {
  const now = clock.now()
  return {
    ...stampOf(newId('listenedRequest', now)),
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
  }
}

/** Headers as they would be sent; see `adapters/outgoing-http/headers.ts`. */
const lowercased = (headers: Record<string, string>): Record<string, string> => ({
  'accept-encoding': 'identity',
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
})

type Outcome = Omit<OutgoingResult, 'durationMs'>

/**
 * Polls the record for the answer. Without a listener, a request that was never taken counts as a failed connection. A
 * request that was taken may have been processed, so it keeps its full deadline.
 * @param left ms until the deadline
 */
const awaitAnswer = async (deps: Deps, asked: ListenedRequest, left: () => number): Promise<Outcome> => {
  for (let wait = SHORTEST; ; wait = Math.min(wait * 1.3, LONGEST)) {
    await pause(Math.max(1, Math.min(wait, left())))
    const [request, listener] = await deps.table.getAll([
      ListenedRequestEntity.ref(asked),
      ListenerEntity.ref(asked),
    ] as const)
    if (!request) return unansweredFailure('waiting')
    if (request.state === 'answered') {
      const answer = await loadMessage(deps, asked.id, 'answer')
      return answer ? outgoingResultOf(answer, asked.max_response_bytes) : unansweredFailure('taken')
    }
    const late = left() <= 0 || deps.clock.now() >= asked.deadline_at
    const gone = request.state === 'waiting' && !isLive(deps, listener)
    if (!(late || gone) || !(await giveUp(deps, request))) continue
    // A live listener would have reported the failure by now. Dropping its lease stops it from taking more requests.
    if (request.taken_by !== undefined) await dropLease(deps, request, request.taken_by)
    return unansweredFailure(request.state)
  }
}

/** @returns false when the request was taken or answered in the meantime */
const giveUp = async ({ table }: Deps, request: ListenedRequest): Promise<boolean> => {
  return ifUnchanged(
    table.transact([
      ListenedRequestEntity.update(request, { set: { state: 'over' } }, { where: { state: request.state } }),
    ]),
  )
}
