import type { Agent } from 'node:http'
import type { Logger } from '../kernel/ports/logger.ts'
import { type Attributes, SPAN_KINDS, type Span, type Traces } from '../kernel/ports/traces.ts'

/** Milliseconds that a collector has. It delays the response, so a collector that hangs loses spans instead. */
const DEADLINE = 1_000

/** Spans of one request. A collector takes at most 4 MiB by default. */
const MAX_SPANS = 1_000

export interface TracesOptions {
  /** Address of an OTLP/HTTP collector, without `/v1/traces`. */
  endpoint: string
  share: number
  /** Attributes of the function: `service.name`, … */
  resource: Attributes
  log: Pick<Logger, 'warn'>
}

/**
 * Creates the exporter of spans: OTLP over HTTP, as JSON. It is our own because the OpenTelemetry SDK with its exporter costs
 * more than the whole cold-start budget (docs/architecture.md#choices).
 */
export const createTraces = ({ endpoint, share, resource, log }: TracesOptions): Traces => {
  const url = new URL(`${endpoint}/v1/traces`)
  let agent: Agent | undefined
  const post = async (body: Buffer): Promise<void> => {
    const { request, Agent } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
    agent ??= new Agent({ keepAlive: true, maxSockets: 4 })
    await new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const signal = AbortSignal.timeout(DEADLINE)
      const sent = request(url, { method: 'POST', agent, headers, signal }, (answer) => {
        answer.resume()
        answer.once('error', reject)
        answer.once('end', () => {
          const { statusCode = 0 } = answer
          if (statusCode >= 200 && statusCode < 300) resolve()
          else reject(new Error(`the collector answered HTTP ${statusCode}`))
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }
  return {
    share,
    async export(spans) {
      try {
        for (let i = 0; i < spans.length; i += MAX_SPANS) {
          await post(Buffer.from(JSON.stringify(otlpOf(resource, spans.slice(i, i + MAX_SPANS)))))
        }
      } catch (error) {
        log.warn('spans were not exported', { spans: spans.length, error })
      }
    },
  }
}

const otlpOf = (resource: Attributes, spans: readonly Span[]) => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: 'agent-platform' }, spans: spans.map(spanOf) }],
    },
  ],
})

const ERROR = { code: 2 }

const spanOf = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
  ...(span.state !== undefined && { traceState: span.state }),
  name: span.name,
  kind: SPAN_KINDS[span.kind],
  startTimeUnixNano: nanoseconds(span.startedAt),
  endTimeUnixNano: nanoseconds(span.endedAt),
  attributes: attributesOf(span.attributes),
  status: span.failed ? ERROR : {},
})

/** Exceeds the exact integers of a number, so it is put together from milliseconds and the rest. */
const nanoseconds = (ms: number): string =>
  `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1_000_000)).padStart(6, '0')}`

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValueOf(value) }]))

const anyValueOf = (value: string | number | boolean) => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
