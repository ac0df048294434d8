import { afterEach, expect, it, vi } from 'vitest'
import { startCollector } from '#local/traces/collector.ts'
import type { ReceivedSpan } from '#local/traces/otlp.ts'
import { createTraces } from '#shared/adapters/traces.ts'
import type { Span } from '#shared/kernel/ports/traces.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'

const span: Span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: undefined,
  state: 'vendor=1',
  name: 'request',
  kind: 'server',
  startedAt: 1_790_000_000_000.25,
  endedAt: 1_790_000_000_012.5,
  attributes: { 'http.route': '/runs', status: 200, ratio: 0.5, cold: true, absent: undefined },
  failed: true,
}

let receiver: Receiver | undefined
afterEach(async () => {
  await receiver?.close()
  receiver = undefined
})

it('a collector reads what is exported', async () => {
  const received: ReceivedSpan[] = []
  const collector = await startCollector(0, (spans) => received.push(...spans))
  const log = { warn: vi.fn() }
  const traces = createTraces({ endpoint: collector.address, share: 1, resource: { 'service.name': 'platform' }, log })
  await traces.export([span])
  await collector.stop()
  expect(log.warn).not.toHaveBeenCalled()
  expect(received).toEqual([
    {
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: undefined,
      name: 'request',
      kind: 2,
      startedAt: span.startedAt,
      endedAt: span.endedAt,
      failed: true,
      service: 'platform',
      attributes: { 'http.route': '/runs', status: 200, ratio: 0.5, cold: true },
    },
  ])
})

it('the headers of the secret are sent, and only a readable secret is used', async () => {
  receiver = await startReceiver()
  const log = { warn: vi.fn() }
  const options = { endpoint: receiver.url, share: 1, resource: {}, log }
  await createTraces({ ...options, headers: async () => ({ 'x-api-key': 'secret' }) }).export([span])
  expect(receiver.requests[0]?.headers).toMatchObject({
    'x-api-key': 'secret',
    'content-type': 'application/x-protobuf',
  })
  await createTraces({ ...options, headers: () => Promise.reject(new Error('no secret')) }).export([span])
  expect(receiver.requests).toHaveLength(1)
  expect(log.warn).toHaveBeenCalledWith('spans were not exported', expect.objectContaining({ spans: 1 }))
})

it.each([
  ['refuses', { kind: 'answer', status: 503 }],
  ['hangs', { kind: 'hang' }],
  ['closes the connection', { kind: 'reset', when: 'before' }],
] as const)('a collector that %s costs the spans, a second at most, and no request', async (_, answer) => {
  receiver = await startReceiver()
  receiver.answer(answer)
  const log = { warn: vi.fn() }
  const begun = performance.now()
  await createTraces({ endpoint: receiver.url, share: 1, resource: {}, log }).export([span])
  expect(performance.now() - begun).toBeLessThan(5_000)
  expect(log.warn).toHaveBeenCalledWith('spans were not exported', expect.objectContaining({ spans: 1 }))
})
