import { expect, it } from 'vitest'
import type { Span, Traces } from '#shared/kernel/ports/traces.ts'
import {
  newTrace,
  restoreTrace,
  type StoredTrace,
  storedTrace,
  type TraceContext,
} from '#shared/kernel/tracing/context.ts'
import {
  continueTrace,
  currentTrace,
  exportingSpans,
  forRecord,
  inBatch,
  inScope,
  inSpan,
  outgoingTraceHeaders,
  traceAbout,
} from '#shared/kernel/tracing/scope.ts'

const exporter = (share = 1): Traces & { spans: Span[] } => {
  const spans: Span[] = []
  return { share, spans, export: async (more) => void spans.push(...more) }
}

/** Runs a request within an invocation. */
const request = <T>(traces: Traces | undefined, trace: TraceContext | undefined, act: () => Promise<T>): Promise<T> =>
  exportingSpans(traces, (invocation) =>
    inScope({ invocation, trace, baggage: 'tier=gold', span: { name: 'request', kind: 'server' } }, act),
  )

it('without a collector, a caller’s trace is passed on unchanged', async () => {
  const trace = newTrace(true)
  await request(undefined, trace, () =>
    inSpan('call', 'client', {}, async () => {
      expect(outgoingTraceHeaders(true)).toEqual({
        traceparent: `00-${trace.traceId}-${trace.spanId}-${trace.flags}`,
        baggage: 'tier=gold',
      })
      expect(outgoingTraceHeaders(false)).not.toHaveProperty('baggage')
    }),
  )
})

it('a collector gets each span with its parent, also of a request that fails', async () => {
  const traces = exporter()
  const trace = newTrace(true)
  const failing = request(traces, trace, () =>
    inSpan('call', 'client', {}, async () => {
      throw new Error('lost')
    }),
  )
  await expect(failing).rejects.toThrow('lost')
  const [call, root] = traces.spans
  expect(root).toMatchObject({ name: 'request', parentSpanId: trace.spanId, traceId: trace.traceId, failed: true })
  expect(call).toMatchObject({ name: 'call', parentSpanId: root?.spanId, failed: true })
})

it('a trace that its caller doesn’t record isn’t recorded', async () => {
  const traces = exporter()
  await request(traces, { ...newTrace(true), flags: '00' }, async () => undefined)
  expect(traces.spans).toEqual([])
})

it('a trace outside of the share isn’t recorded, however its caller records it', async () => {
  const traces = exporter(0)
  const trace = newTrace(true)
  await request(traces, trace, async () => {
    expect(outgoingTraceHeaders(false).traceparent).toContain(trace.spanId)
  })
  await request(traces, undefined, async () => expect(outgoingTraceHeaders(false)).toEqual({}))
  expect(traces.spans).toEqual([])
})

it('work without a trace of its own continues that of its record', async () => {
  const traces = exporter()
  const record = newTrace(true)
  await request(traces, undefined, async () => continueTrace(storedTrace({ ...record, baggage: 'tier=silver' })))
  expect(traces.spans).toMatchObject([{ traceId: record.traceId, parentSpanId: record.spanId }])
  const carried = newTrace(true)
  await request(traces, carried, async () => continueTrace(storedTrace(record)))
  expect(traces.spans[1]).toMatchObject({ traceId: carried.traceId, parentSpanId: carried.spanId })
})

it('records of one sweep have a trace each, and the sweep none', async () => {
  const [one, two] = [newTrace(true), newTrace(true)]
  await exportingSpans(undefined, (invocation) =>
    inScope({ invocation }, async () => {
      const seen = await Promise.all(
        [one, two].map((trace) =>
          forRecord('record', async () => {
            continueTrace(storedTrace(trace))
            await Promise.resolve()
            return currentTrace()
          }),
        ),
      )
      expect(seen.map((each) => each && restoreTrace(each)?.traceId)).toEqual([one.traceId, two.traceId])
      expect(currentTrace()).toBeUndefined()
    }),
  )
})

it('events of a record stay in its trace when somebody else’s request changes it, and have no baggage', async () => {
  const record = { ...storedTrace(newTrace(true)), baggage: 'tier=silver' } as StoredTrace
  await request(undefined, newTrace(true), async () => {
    expect(traceAbout(record)).toEqual({ parent: record.parent })
    expect(traceAbout()).toEqual({ parent: currentTrace()?.parent })
  })
})

it('each of several records has a span in its own trace, and one without a trace has none', async () => {
  const traces = exporter()
  const trace = newTrace(true)
  await exportingSpans(traces, (invocation) =>
    inScope({ invocation }, async () => {
      await forRecord('overdue run', async () => {
        continueTrace(storedTrace(trace))
        await inSpan('call', 'client', {}, async () => undefined)
      })
      await forRecord('overdue file', async () => undefined)
    }),
  )
  const [call, root, ...others] = traces.spans
  expect(root).toMatchObject({ name: 'overdue run', traceId: trace.traceId, parentSpanId: trace.spanId })
  expect(call).toMatchObject({ name: 'call', traceId: trace.traceId, parentSpanId: root?.spanId })
  expect(others).toEqual([])
})

it('a batch has a span in the trace of each of its messages, and none in traces that aren’t recorded', async () => {
  const traces = exporter()
  const [one, two] = [newTrace(true), newTrace(true)]
  const unrecorded = { ...newTrace(true), flags: '00' }
  const batch = (act: () => Promise<void>) =>
    exportingSpans(traces, (invocation) =>
      inScope({ invocation }, () => inBatch('statistics', [one, undefined, one, two, unrecorded], act)),
    )
  await batch(async () => undefined)
  expect(traces.spans).toMatchObject([
    { name: 'statistics', traceId: one.traceId, parentSpanId: one.spanId, failed: false },
    { name: 'statistics', traceId: two.traceId, parentSpanId: two.spanId },
  ])
  await expect(batch(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost')
  expect(traces.spans[2]).toMatchObject({ traceId: one.traceId, failed: true })
})
