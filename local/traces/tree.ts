import type { ReceivedSpan } from './otlp.ts'

/** A span with those that it caused, in the order of their start. */
export interface SpanNode {
  span: ReceivedSpan
  children: SpanNode[]
}

/**
 * Builds the tree of a trace. Spans whose parent nobody sent are roots: the first request's, whose caller may keep its own
 * spans elsewhere, and orphans.
 */
export const buildTree = (spans: readonly ReceivedSpan[]): SpanNode[] => {
  const inOrder = spans.toSorted((a, b) => a.startedAt - b.startedAt)
  const nodes = new Map(inOrder.map((span): [string, SpanNode] => [span.spanId, { span, children: [] }]))
  const roots: SpanNode[] = []
  for (const node of nodes.values()) {
    const parent = node.span.parentSpanId === undefined ? undefined : nodes.get(node.span.parentSpanId)
    if (parent) parent.children.push(node)
    else roots.push(node)
  }
  return roots
}

const status = ({ attributes, failed }: ReceivedSpan): string => {
  const code = attributes['http.response.status_code']
  const error = attributes['error.type']
  return [...(code === undefined ? [] : [String(code)]), ...(failed || error ? [String(error ?? 'error')] : [])].join(
    ' ',
  )
}

const lines = (nodes: readonly SpanNode[], from: number, indent: string): string[][] =>
  nodes.flatMap(({ span, children }, n) => {
    const last = n === nodes.length - 1
    const branch = indent === '' ? '' : last ? '└─ ' : '├─ '
    const row = [
      `${indent.slice(2)}${branch}${span.name}`,
      span.service,
      `+${Math.round(span.startedAt - from)} ms`,
      `${Math.round((span.endedAt - span.startedAt) * 10) / 10} ms`,
      status(span),
    ]
    return [
      row,
      ...lines(children, from, `${indent === '' ? '  ' : indent}${branch === '' ? '' : last ? '   ' : '│  '}`),
    ]
  })

/** Formats a trace as a tree: name, service, time after the trace's start, duration and outcome of each span. */
export const formatTrace = (spans: readonly ReceivedSpan[]): string => {
  const roots = buildTree(spans)
  const from = Math.min(...spans.map(({ startedAt }) => startedAt))
  const until = Math.max(...spans.map(({ endedAt }) => endedAt))
  const rows = lines(roots, from, '')
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const table = rows.map((row) =>
    row
      .map((cell, n) => (n === 2 || n === 3 ? cell.padStart(widths[n] ?? 0) : cell.padEnd(widths[n] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  const [first] = spans
  return [`trace ${first?.traceId}: ${spans.length} spans, ${Math.round(until - from)} ms`, ...table].join('\n')
}
