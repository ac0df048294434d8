import { ListenedMessageEntity, type ListenedRequest, ListenedRequestEntity } from '../../entities/listening.ts'
import { iso } from '../../kernel/clock.ts'
import { fail, PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { oneOf } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { type AnswerMessage, discardMessage, sealedMessage } from './message.ts'
import type { ListenAnswer, ListenedRequestView } from './schemas.ts'

/**
 * Takes a listener's answer to a request that it was sent. The first one counts.
 * @throws `not_found` also for another developer's; `conflict` when it was answered, or nobody waits any more
 */
export const answerListened = async (
  work: Work,
  developer_id: string,
  id: string,
  answer: ListenAnswer,
): Promise<ListenedRequestView> => {
  const request = await work.table.get(ListenedRequestEntity, { developer_id, id })
  if (!request) throw fail('not_found', { message: 'You were sent no such request.' })
  refuse(work, request)
  const message = await sealedMessage(work, request, 'answer', messageOf(answer, request.max_response_bytes))
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
    // Refused: nobody reads it. What failed otherwise may have been written.
    if (error instanceof PlatformError) await discardMessage(work, message)
    throw error
  }
  return view
}

const answered = () =>
  fail('conflict', {
    message: 'The request was answered already.',
    fix: 'Nothing is to be done: the first answer counts.',
  })

const late = () =>
  fail('conflict', {
    message: 'The request’s deadline has passed: it counts as not answered.',
    fix: 'Answer before deadline_at. A webhook is delivered again by itself; a run has to be started again.',
  })

const refuse = ({ clock }: Work, { state, deadline_at }: ListenedRequest): void => {
  if (state === 'answered') throw answered()
  if (state === 'over' || deadline_at <= clock.now()) throw late()
}

/** What is beyond the bytes that are read is not kept. */
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
