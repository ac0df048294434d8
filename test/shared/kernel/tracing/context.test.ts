import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isInShare,
  newTrace,
  readTraceHeaders,
  restoreTrace,
  storedTrace,
  traceHeaders,
} from '#shared/kernel/tracing/context.ts'

const ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const PARENT = `00-${ID}-${SPAN}-01`

describe('the headers of a trace', () => {
  it('are read, and passed on as they came', () => {
    const { trace, baggage } = readTraceHeaders({
      traceparent: PARENT,
      tracestate: 'vendor=a1,other@tenant=b 2',
      baggage: 'tier=gold;since=2020, region = eu%20west',
    })
    expect(trace).toEqual({ traceId: ID, spanId: SPAN, flags: '01', state: 'vendor=a1,other@tenant=b 2' })
    const sent = traceHeaders({ ...(trace ?? newTrace(true)), baggage }, true)
    expect(sent).toEqual({
      traceparent: PARENT,
      tracestate: 'vendor=a1,other@tenant=b 2',
      baggage: 'tier=gold;since=2020, region = eu%20west',
    })
  })

  it.each([
    ['nothing', ''],
    ['a version that is forbidden', `ff-${ID}-${SPAN}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${ID}-${'0'.repeat(16)}-01`],
    ['upper case', PARENT.toUpperCase()],
    ['more than version 00 has', `${PARENT}-extra`],
    ['two headers', `${PARENT}, ${PARENT}`],
    ['a line break', `${PARENT}\r\nx: y`],
  ])('are dropped if traceparent is malformed: %s', (_, traceparent) => {
    expect(readTraceHeaders({ traceparent, tracestate: 'vendor=a1' })).toEqual({})
  })

  it.each([
    ['tracestate', 'no member'],
    ['tracestate', 'a=1,a=2'],
    ['tracestate', `a=${'x'.repeat(600)}`],
    ['tracestate', 'a=1\r\nset-cookie: b'],
    ['baggage', 'no member'],
    ['baggage', 'key=a b'],
    ['baggage', 'key=ü'],
    ['baggage', `key=${'x'.repeat(8_192)}`],
    ['baggage', 'key=1\r\nset-cookie: b'],
  ])('leave out a malformed %s: %s', (name, value) => {
    const { trace, baggage } = readTraceHeaders({ traceparent: PARENT, [name]: value })
    expect(trace).toEqual({ traceId: ID, spanId: SPAN, flags: '01' })
    expect(baggage).toBeUndefined()
  })

  it('accept a later version, by the fields that are known', () => {
    expect(readTraceHeaders({ traceparent: `cc-${ID}-${SPAN}-01-what-comes` }).trace?.flags).toBe('01')
  })

  it.each(['00', '01', '02', '03'])('keep the flags %s: sampled and random (level 2, §3.2.2.5)', (flags) => {
    const traceparent = `00-${ID}-${SPAN}-${flags}`
    const { trace } = readTraceHeaders({ traceparent })
    const stored = trace && storedTrace(trace)
    const restored = stored && restoreTrace(stored)
    expect(restored && traceHeaders(restored, false)).toEqual({ traceparent })
  })

  it('leave out flags that have no meaning yet', () => {
    expect(readTraceHeaders({ traceparent: `00-${ID}-${SPAN}-ff` }).trace?.flags).toBe('03')
  })

  it.each([
    ['over 32 members', Array.from({ length: 40 }, (_, i) => `k${i}=1`), (all: string[]) => all.slice(0, 32)],
    [
      'over 512 characters',
      Array.from({ length: 10 }, (_, i) => `k${i}=${'x'.repeat(97)}`),
      (all: string[]) => all.slice(0, 5),
    ],
    [
      'with members over 128 characters, which go first',
      [`a=${'x'.repeat(200)}`, 'b=1', `c=${'x'.repeat(200)}`, 'd=1', `e=${'x'.repeat(200)}`],
      (all: string[]) => all.slice(0, 4),
    ],
  ])('lose whole members of a tracestate %s, never part of one (§3.3.1.5)', (_, all, kept) => {
    const { trace } = readTraceHeaders({ traceparent: PARENT, tracestate: all.join(',') })
    expect(trace?.state?.split(',')).toEqual(kept(all))
  })

  it('are read in linear time', () => {
    const begun = performance.now()
    for (const baggage of [
      'a='.repeat(4_000),
      `a=${';'.repeat(8_000)}`,
      `a${' '.repeat(8_000)}`,
      `a=1${'; '.repeat(4_000)}"`,
    ])
      readTraceHeaders({ baggage, tracestate: baggage.slice(0, 512), traceparent: PARENT })
    expect(performance.now() - begun).toBeLessThan(1_000)
  })

  it('can be stored and read again', () => {
    const text = fc.constantFrom(undefined, 'a=1', 'a=1,b=2')
    fc.assert(
      fc.property(text, text, (state, baggage) => {
        const trace = { ...newTrace(true), state, baggage }
        const stored = storedTrace(trace)
        expect(stored && restoreTrace(stored)).toEqual(trace)
      }),
    )
  })

  it('are not sent for a trace that nobody records, so that agents decide for themselves, and not stored', () => {
    expect(traceHeaders(newTrace(false), true)).toEqual({})
    expect(storedTrace(newTrace(false))).toBeUndefined()
  })

  it('keep baggage without a trace', () => {
    const stored = storedTrace({ ...newTrace(false), baggage: 'a=1' })
    const restored = stored && restoreTrace(stored)
    expect(restored && traceHeaders(restored, true)).toEqual({ baggage: 'a=1' })
  })
})

it('a share of traces is chosen by their ids', () => {
  const ids = Array.from({ length: 4_000 }, () => newTrace(true).traceId)
  const chosen = ids.filter((id) => isInShare(id, 0.25)).length
  expect(chosen).toBeGreaterThan(700)
  expect(chosen).toBeLessThan(1_300)
  expect(ids.every((id) => isInShare(id, 1))).toBe(true)
  expect(ids.some((id) => isInShare(id, 0))).toBe(false)
})
