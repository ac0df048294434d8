import type { Agent } from 'node:http'
import type { Logger } from '../kernel/ports/logger.ts'
import type { Attributes, Traces } from '../kernel/ports/traces.ts'

/** Milliseconds that a collector has. It delays the response, so a collector that hangs loses spans instead. */
const DEADLINE = 1_000

/** Spans of one request. A collector takes at most 4 MiB by default. */
const MAX_SPANS = 1_000

export interface TracesOptions {
  /** Address of an OTLP/HTTP collector, without `/v1/traces`. */
  endpoint: string
  share: number
  /** Returns headers that the receiver wants, such as a key. */
  headers?: () => Promise<Record<string, string>>
  /** Attributes of the function: `service.name`, … */
  resource: Attributes
  log: Pick<Logger, 'warn'>
}

/**
 * Creates the exporter of spans: OTLP over HTTP, in protobuf, which every receiver takes. It is our own because the OpenTelemetry SDK
 * with its exporter costs more than the whole cold-start budget (docs/architecture.md#choices).
 */
export const createTraces = ({ endpoint, share, headers, resource, log }: TracesOptions): Traces => {
  const url = new URL(`${endpoint}/v1/traces`)
  let agent: Agent | undefined
  const post = async (body: Uint8Array): Promise<void> => {
    const { request, Agent } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
    const own = await headers?.()
    agent ??= new Agent({ keepAlive: true, maxSockets: 4 })
    await new Promise<void>((resolve, reject) => {
      const sending = { ...own, 'content-type': 'application/x-protobuf', 'content-length': body.length }
      const signal = AbortSignal.timeout(DEADLINE)
      const sent = request(url, { method: 'POST', agent, headers: sending, signal }, (answer) => {
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
        const { encodeSpans } = await import('./otlp.ts')
        for (let i = 0; i < spans.length; i += MAX_SPANS)
          await post(encodeSpans(resource, spans.slice(i, i + MAX_SPANS)))
      } catch (error) {
        log.warn('spans were not exported', { spans: spans.length, error })
      }
    },
  }
}
