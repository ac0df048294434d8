import { describe, expect, it } from 'vitest'
import { type Answer, BROKEN_BODIES, startReceiver } from '#testkit/receiver.ts'
import { forward, type ListenedRequest } from '../../cli/listening/forward.ts'

const request = (kind: ListenedRequest['kind'], time_left_ms: number): ListenedRequest => ({
  id: 'lrq_1',
  kind,
  event: kind === 'webhook' ? 'run.succeeded' : kind,
  run_id: null,
  delivery_id: null,
  attempt: null,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body_base64: Buffer.from('{}').toString('base64'),
  time_left_ms,
  connect_retry_pauses_ms: [],
})

/** Returns what the listener reports about a server on the laptop that gives this answer. */
const forwarded = async (kind: ListenedRequest['kind'], answer: Answer) => {
  await using laptop = await startReceiver()
  laptop.answer(answer)
  const left = answer.kind === 'drip' ? 2_000 : 30_000
  return await forward(request(kind, left), new URL(laptop.url), new AbortController().signal)
}

describe('a listener reports an answer with a broken body as the platform would judge it:', () => {
  it.each(BROKEN_BODIES)('a webhook is delivered with a 200 whose body %s', async (_what, answer) => {
    expect(await forwarded('webhook', answer)).toMatchObject({ status: 200, truncated: true })
  })

  it.each<[what: string, answer: Answer]>([
    ['is reset', { kind: 'reset', when: 'body', status: 202 }],
    ['isn’t gzip', { kind: 'answer', status: 202, headers: { 'content-encoding': 'gzip' }, body: 'none' }],
    ['stays open', { kind: 'drip', status: 202, everyMs: 50 }],
  ])('a run is accepted with a 202 whose body %s', async (_what, answer) => {
    expect(await forwarded('run.execute', answer)).toMatchObject({ status: 202, body_base64: '' })
  })

  it.each<[what: string, kind: ListenedRequest['kind'], answer: Answer, failure: string]>([
    ['a run with a 200', 'run.execute', { kind: 'reset', when: 'body' }, 'reset'],
    ['a webhook with a 500', 'webhook', { kind: 'reset', when: 'body', status: 500 }, 'reset'],
    ['a webhook whose body comes too late', 'webhook', { kind: 'drip', everyMs: 50 }, 'timeout'],
    ['a webhook that gets no answer', 'webhook', { kind: 'reset', when: 'before' }, 'reset'],
  ])('%s fails', async (_what, kind, answer, failure) => {
    expect(await forwarded(kind, answer)).toEqual({ failure })
  })
})
