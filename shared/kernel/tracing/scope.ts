import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Span, SpanKind, Traces } from '../ports/traces.ts'
import {
  isInShare,
  isSampled,
  newSpanId,
  newTrace,
  restoreTrace,
  type StoredTrace,
  sampled,
  storedTrace,
  type TraceContext,
  traceHeaders,
} from './context.ts'

/** Span in progress. */
interface OpenSpan {
  name: string
  kind: SpanKind
  spanId: string
  parentSpanId: string | undefined
  startedAt: number
  attributes: Attributes
  failed: boolean
}

/** A request, or one message of a worker, and its trace. */
interface Scope {
  trace: TraceContext | undefined
  /** The trace came with the request or message, or from its record. */
  continued: boolean
  /** First span of the scope. */
  root: OpenSpan | undefined
  traces: Traces | undefined
  /** Ended spans of the invocation. */
  spans: Span[]
}

/** Position of the running code: its scope and its innermost span. */
interface Position {
  scope: Scope
  span: OpenSpan | undefined
}

// Context of asynchronous calls, so that the domain's functions need no parameter for it.
const positions = new AsyncLocalStorage<Position>()

const now = (): number => performance.timeOrigin + performance.now()

/** Reports whether spans of this scope are exported. */
const records = ({ traces, trace }: Scope): boolean =>
  traces !== undefined && trace !== undefined && isSampled(trace) && isInShare(trace.traceId, traces.share)

const open = (name: string, kind: SpanKind, parentSpanId: string | undefined, attributes: Attributes): OpenSpan => ({
  name,
  kind,
  spanId: newSpanId(),
  parentSpanId,
  startedAt: now(),
  attributes,
  failed: false,
})

const end = (scope: Scope, span: OpenSpan): void => {
  if (!records(scope) || !scope.trace) return
  const { traceId, state } = scope.trace
  scope.spans.push({ ...span, traceId, state, endedAt: now() })
}

/** Runs `act` within the span, and ends it. */
const within = async <T>(scope: Scope, span: OpenSpan, act: () => Promise<T>): Promise<T> => {
  try {
    return await positions.run({ scope, span }, act)
  } catch (error) {
    span.failed = true
    throw error
  } finally {
    end(scope, span)
  }
}

export interface ScopeStart {
  /** Exporter and spans of the invocation, which {@link exportingSpans} gives. */
  invocation: Invocation
  /** Trace that the request or message brought. */
  trace?: TraceContext | undefined
  baggage?: string | undefined
  /** First span. Without one, the scope belongs to no trace until a record's trace is continued. */
  span?: { name: string; kind: SpanKind; attributes?: Attributes }
}

/** Runs a request, or a worker's message, with a trace of its own. */
export const inScope = <T>(start: ScopeStart, act: () => Promise<T>): Promise<T> => {
  const { traces, spans } = start.invocation
  const { baggage } = start
  const trace = start.trace ?? (start.span && newTrace(false))
  // A trace that begins here is recorded if it belongs to the share.
  const begins = start.trace === undefined && trace !== undefined && traces !== undefined
  const scope: Scope = {
    trace: trace && {
      ...(begins && isInShare(trace.traceId, traces.share) ? sampled(trace) : trace),
      ...(baggage !== undefined && { baggage }),
    },
    continued: start.trace !== undefined,
    root: undefined,
    traces,
    spans,
  }
  if (!start.span) return positions.run({ scope, span: undefined }, act)
  const { name, kind, attributes = {} } = start.span
  scope.root = open(name, kind, start.trace?.spanId, attributes)
  return within(scope, scope.root, act)
}

/**
 * Runs `act` within the same invocation for one of several records, with a span in the record's trace. Nothing is recorded
 * unless `act` continues that.
 */
export const forRecord = <T>(name: string, act: () => Promise<T>): Promise<T> => {
  const position = positions.getStore()
  if (!position) return act()
  const { traces, spans } = position.scope
  const root = open(name, 'internal', undefined, {})
  return within({ trace: undefined, continued: false, root, traces, spans }, root, act)
}

/** Runs `act` for several messages or events at once, with a span in the trace of each. They are as long as the batch takes. */
export const inBatch = async <T>(
  name: string,
  continued: readonly (TraceContext | undefined)[],
  act: () => Promise<T>,
): Promise<T> => {
  const position = positions.getStore()
  if (!position?.scope.traces) return act()
  const { traces, spans } = position.scope
  const parents = new Map(continued.flatMap((trace) => (trace ? [[`${trace.traceId}-${trace.spanId}`, trace]] : [])))
  const begun = [...parents.values()].map((trace): [Scope, OpenSpan] => {
    const root = open(name, 'consumer', trace.spanId, { 'messaging.batch.message_count': continued.length })
    return [{ trace, continued: true, root, traces, spans }, root]
  })
  let failed = true
  try {
    const result = await act()
    failed = false
    return result
  } finally {
    for (const [scope, span] of begun) end(scope, { ...span, failed })
  }
}

/** Exporter of an invocation, and the spans that ended during it. */
export interface Invocation {
  traces: Traces | undefined
  spans: Span[]
}

/** Runs an invocation and exports its spans before the function may freeze. */
export const exportingSpans = async <T>(
  traces: Traces | undefined,
  act: (invocation: Invocation) => Promise<T>,
): Promise<T> => {
  const spans: Span[] = []
  try {
    return await act({ traces, spans })
  } finally {
    if (spans.length > 0) await traces?.export(spans)
  }
}

/**
 * Runs `act` within a span of the current trace. Without a recorded trace it only runs it.
 * @param attributes read after `act`, so that it may add to them
 */
export const inSpan = <T>(name: string, kind: SpanKind, attributes: Attributes, act: () => Promise<T>): Promise<T> => {
  const position = positions.getStore()
  if (!position || !records(position.scope)) return act()
  const { scope } = position
  const parent = position.span?.spanId ?? scope.trace?.spanId
  return within(scope, open(name, kind, parent, attributes), act)
}

/** Marks the innermost span as failed, and adds to its attributes. */
export const describeSpan = (attributes: Attributes, failed = false): void => {
  const span = positions.getStore()?.span
  if (!span) return
  Object.assign(span.attributes, attributes)
  span.failed ||= failed
}

/** Names the first span of the scope once that is known. */
export const nameRequest = (name: string, attributes: Attributes, failed: boolean): void => {
  const root = positions.getStore()?.scope.root
  if (!root) return
  root.name = name
  Object.assign(root.attributes, attributes)
  root.failed ||= failed
}

/**
 * Continues the trace of a record that the work is about, unless another one came with the request or message. Its
 * baggage is taken over with the same trace only.
 */
export const continueTrace = (stored: StoredTrace | undefined): void => {
  const scope = positions.getStore()?.scope
  const trace = stored && restoreTrace(stored)
  if (!scope || !trace) return
  if (!scope.continued) {
    scope.trace = { ...trace, baggage: scope.trace?.baggage ?? trace.baggage }
    scope.continued = true
    if (scope.root) scope.root.parentSpanId = trace.spanId
  } else if (scope.trace?.traceId === trace.traceId) {
    scope.trace = { ...scope.trace, baggage: scope.trace.baggage ?? trace.baggage }
  }
}

/** Continues the trace that a message named inside a request, instead of the one of the request's headers. */
export const continueSent = ({ trace, baggage }: { trace?: TraceContext; baggage?: string }): void => {
  const scope = positions.getStore()?.scope
  if (!scope || (!trace && baggage === undefined)) return
  const followed = trace ?? scope.trace
  if (!followed) return
  scope.trace = { ...followed, baggage: baggage ?? scope.trace?.baggage }
  if (!trace) return
  scope.continued = true
  if (scope.root) scope.root.parentSpanId = trace.spanId
}

/** Returns the position in the trace: the innermost span, or if nothing is recorded, what the caller sent. */
const current = (): TraceContext | undefined => {
  const position = positions.getStore()
  const trace = position?.scope.trace
  if (!trace || !position) return undefined
  const spanId = records(position.scope) ? position.span?.spanId : undefined
  return { ...trace, spanId: spanId ?? trace.spanId }
}

/** Returns the current trace for a record. */
export const currentTrace = (): StoredTrace | undefined => {
  const trace = current()
  return trace && storedTrace(trace)
}

/**
 * Returns the trace for an event or a message about a record: the current one, or the record's if the work belongs to
 * another. Without baggage, which is meant for agents.
 */
export const traceAbout = (record?: StoredTrace): StoredTrace | undefined => {
  const now = current()
  const own = record && restoreTrace(record)
  const trace = own && own.traceId !== now?.traceId ? own : now
  return trace && storedTrace({ ...trace, baggage: undefined })
}

/** Returns the headers that pass the current trace on. */
export const outgoingTraceHeaders = (withBaggage: boolean): Record<string, string> => {
  const trace = current()
  return trace ? traceHeaders(trace, withBaggage) : {}
}

/** Returns the trace's id for log lines. */
export const currentTraceId = (): string | undefined => positions.getStore()?.scope.trace?.traceId
