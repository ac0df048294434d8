import type { OutgoingHttp, OutgoingRequest, OutgoingResult } from '../ports/outgoing-http.ts'
import type { Attributes } from '../ports/traces.ts'
import { describeSpan, inSpan, outgoingTraceHeaders } from './scope.ts'

/** Span of an outgoing request. */
export interface RequestSpan {
  name: string
  attributes?: Attributes
  /** The receiver works for the caller, so it gets the caller's baggage. */
  withBaggage?: boolean
}

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined)

/** Sends a request within a span, with the headers of the trace. Headers of the request itself come first. */
export const sendTraced = (
  send: OutgoingHttp['send'],
  request: OutgoingRequest,
  { name, attributes = {}, withBaggage = false }: RequestSpan,
): Promise<OutgoingResult> => {
  const about = { ...attributes, 'http.request.method': request.method, 'server.address': hostOf(request.url) }
  return inSpan(name, 'client', about, async () => {
    const own = new Set(Object.keys(request.headers ?? {}).map((header) => header.toLowerCase()))
    const passed = Object.entries(outgoingTraceHeaders(withBaggage)).filter(([header]) => !own.has(header))
    const headers = own.has('traceparent') ? [] : passed
    const result = await send({ ...request, headers: { ...request.headers, ...Object.fromEntries(headers) } })
    const failed = result.kind === 'failure' || result.status >= 400
    describeSpan(
      result.kind === 'response' ? { 'http.response.status_code': result.status } : { 'error.type': result.phase },
      failed,
    )
    return result
  })
}
