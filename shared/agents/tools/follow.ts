import type { OutgoingHttp, OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { sendTraced } from '#shared/kernel/tracing/send.ts'

/**
 * Sends a request and follows redirects within its origin (scheme, host and port). A redirect to another origin, or
 * beyond `maxRedirects`, isn't followed: the result is the 3xx with its `location`
 * (contract/tools.md#fetching-an-address). Each hop is checked like a first request. The deadline covers all hops.
 * @returns the last result, with the address it came from
 */
export const fetchFollowingOrigin = async (
  http: OutgoingHttp,
  request: OutgoingRequest,
  maxRedirects = 5,
): Promise<OutgoingResult & { url: string }> => {
  const begun = performance.now()
  const elapsed = () => Math.round(performance.now() - begun)
  let current = request
  for (let followed = 0; ; followed++) {
    const hop = { ...current, deadlineMs: Math.max(request.deadlineMs - elapsed(), 1) }
    const result = await sendTraced(http.send, hop, { name: 'http_fetch' })
    const next = followed < maxRedirects ? nextRequest(current, result) : undefined
    if (!next) return { ...result, durationMs: elapsed(), url: current.url }
    current = next
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

const nextRequest = (request: OutgoingRequest, result: OutgoingResult): OutgoingRequest | undefined => {
  if (result.kind === 'failure' || !REDIRECTS.has(result.status)) return undefined
  const location = result.headers.location
  if (location === undefined || !URL.canParse(location, request.url)) return undefined
  const to = new URL(location, request.url)
  if (to.origin !== new URL(request.url).origin) return undefined
  const next = { ...request, url: to.href }
  return becomesGet(request.method, result.status) ? withoutBody(next) : next
}

/** 303 always becomes a GET; 301 and 302 do so after a POST, as in browsers (RFC 9110 §15.4, Fetch §4.4). */
const becomesGet = (method: string, status: number): boolean =>
  status === 303 ? method !== 'GET' && method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST'

const withoutBody = ({ body: _body, ...request }: OutgoingRequest): OutgoingRequest => ({
  ...request,
  method: 'GET',
  headers: Object.fromEntries(
    Object.entries(request.headers ?? {}).filter(([name]) => !name.toLowerCase().startsWith('content-')),
  ),
})
