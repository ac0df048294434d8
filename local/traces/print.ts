import type { ReceivedSpan } from './otlp.ts'
import { formatTrace } from './tree.ts'

/** A trace counts as complete after this time in ms without a new span. */
const QUIET = 2_000

/** Traces to keep. A trace that gets a span after it was printed is printed again. */
const KEPT = 200

const isOfRun = ({ attributes }: ReceivedSpan): boolean => attributes['platform.run_id'] !== undefined

/**
 * Prints the tree of each trace with a run.
 * @returns takes spans as they arrive
 */
export const createTracePrinter = (write: (text: string) => void, quiet = QUIET) => {
  const traces = new Map<string, { spans: ReceivedSpan[]; timer?: NodeJS.Timeout }>()
  return (spans: readonly ReceivedSpan[]): void => {
    for (const span of spans) {
      const trace = traces.get(span.traceId) ?? { spans: [] }
      traces.delete(span.traceId)
      traces.set(span.traceId, trace)
      trace.spans.push(span)
      clearTimeout(trace.timer)
      trace.timer = setTimeout(() => {
        if (trace.spans.some(isOfRun)) write(`\n${formatTrace(trace.spans)}\n\n`)
      }, quiet)
      trace.timer.unref()
    }
    for (const [id, { timer }] of [...traces].slice(0, -KEPT)) {
      clearTimeout(timer)
      traces.delete(id)
    }
  }
}
