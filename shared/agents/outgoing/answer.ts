import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { oneOf } from '#shared/table/expressions.ts'
import { ListenedMessageEntity, type ListenedRequest, ListenedRequestEntity } from './entity.ts'
import { type AnswerMessage, discardMessage, sealMessage } from './message.ts'
import type { ListenAnswer, ListenedRequestView } from './schemas.ts'

/**
 * Records a listener's answer to a request. The first answer wins.
 * @throws `not_found`, also for another developer's request; `conflict` when it was answered already or its deadline
 *   has passed
 */
export const recordAnswer = async (
  work: Work,
  developer_id: string,
  id: string,
  answer: ListenAnswer,
): Promise<ListenedRequestView> => {
  const request = await work.table.get(ListenedRequestEntity, { developer_id, id })
  if (!request) throw fail('not_found', { message: 'No request with this id was sent to you.' })
  refuse(work, request)
  const message = await sealMessage(work, request, 'answer', messageOf(answer, request.max_response_bytes))
  const { app_id, installation_id, kind, event } = request
  const view: ListenedRequestView = {
    id,
    kind,
    event,
    app_id,
    installation_id,
    state: 'answered',
    deadline_at: iso(request.deadline_at),
  }
  try {
    await work.commit(
      [
        ListenedRequestEntity.update(
          request,
          { set: { state: 'answered' } },
          {
            where: { state: oneOf('waiting', 'taken') },
            otherwise: (current) => (current?.state === 'answered' ? answered() : late()),
          },
        ),
        ListenedMessageEntity.create(message, { otherwise: answered }),
      ],
      view,
    )
  } catch (error) {
    // A refused answer is never read. After any other error the record may have been written.
    if (error instanceof PlatformError) await discardMessage(work, message)
    throw error
  }
  return view
}

const answered = () =>
  fail('conflict', {
    message: 'The request has already been answered.',
    fix: 'Do nothing: the first answer counts.',
  })

const late = () =>
  fail('conflict', {
    message: 'The request’s deadline has passed, so it counts as unanswered.',
    fix: 'Answer before deadline_at. Start a new run; webhooks are retried automatically.',
  })

const refuse = ({ clock }: Work, { state, deadline_at }: ListenedRequest): void => {
  if (state === 'answered') throw answered()
  if (state === 'over' || deadline_at <= clock.now()) throw late()
}

/** Keeps at most the number of bytes that the sender reads. */
const messageOf = (answer: ListenAnswer, maxBytes: number): AnswerMessage => {
  const { status, failure, headers, body, body_base64, truncated } = answer
  if (failure !== undefined || status === undefined) return { failure: failure ?? 'decode' }
  const bytes = body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64')
  const most = Math.min(maxBytes, LIMITS.runPayloadBytes)
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: bytes.subarray(0, most).toString('base64'),
    truncated: truncated || bytes.length > most,
  }
}
