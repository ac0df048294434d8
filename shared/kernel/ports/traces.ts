/** Kinds of spans, with their numbers in OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const

export type SpanKind = keyof typeof SPAN_KINDS

export type Attributes = Record<string, string | number | boolean | readonly string[] | undefined>

/** A span that has ended. Attributes hold ids and numbers, never client input or secrets. */
export interface Span {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  state: string | undefined
  name: string
  kind: SpanKind
  /** Milliseconds since 1970, with fractions. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  failed: boolean
}

/** Exporter of spans. Absent if the stage exports none. */
export interface Traces {
  /** Share of traces to record, from 0 to 1. */
  share: number
  /** Sends spans. Never throws: a collector that is down must not fail a request. */
  export(spans: readonly Span[]): Promise<void>
}
