import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutgoingHttp, OutgoingRequest, OutgoingResult } from '../../kernel/ports/outgoing-http.ts'
import { startTimeLimit } from '../../kernel/time-limit.ts'
import { type Agents, createAgents } from './agents.ts'
import { type Exchange, exchange, type Outcome } from './exchange.ts'
import { dropped, failure, failureFrom, timedOut } from './failures.ts'
import { invalidHeaderReason, outgoingHeaders } from './headers.ts'
import { type Addresses, type Resolve, resolvePublicAddresses } from './resolve.ts'
import { checkUrl, hostOf, isLoopbackHost, type TargetPolicy } from './targets.ts'

export interface OutgoingHttpOptions extends TargetPolicy {
  /** Replacement for DNS. Its results are checked too. */
  resolve?: Resolve
  /** Certificates in PEM to trust besides the system's. */
  ca?: string
}

/**
 * Creates the only client for outgoing requests to addresses that others chose
 * (contract/outgoing-requests.md#forbidden-targets). For each request, it checks the target, resolves the name once,
 * checks every resolved address, and connects the socket to a checked address.
 */
export const createOutgoingHttp = (options: OutgoingHttpOptions): OutgoingHttp => {
  let agents: Agents | undefined
  return {
    send: async (request) => {
      const begun = performance.now()
      agents ??= createAgents(options.ca)
      const outcome = await sendWithin(request, options, agents, () => request.deadlineMs - (performance.now() - begun))
      return { ...outcome, durationMs: Math.round(performance.now() - begun) } as OutgoingResult
    },
    checkAddress: (url) => {
      const verdict = checkUrl(url, options)
      return verdict.ok ? undefined : verdict.reason
    },
  }
}

const METHODS = new Set<string>(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const sendWithin = async (
  request: OutgoingRequest,
  options: OutgoingHttpOptions,
  agents: Agents,
  left: () => number,
): Promise<Outcome> => {
  const target = checkUrl(request.url, options)
  if (!target.ok) return failure('blocked', 'resolving', target.reason)
  const refusal = METHODS.has(request.method)
    ? invalidHeaderReason(request.headers ?? {})
    : 'The method is not allowed.'
  if (refusal) return failure('blocked', 'resolving', refusal)

  const pauses = request.connectRetryPausesMs ?? []
  for (let tried = 0; ; tried++) {
    if (request.signal?.aborted) return dropped('resolving')
    const coming = fitting(pauses.slice(tried), left())
    // Each attempt may take an equal share of the connect time, so that a host that drops packets doesn't use it all.
    const connectMs = Math.max((left() - sum(coming)) / (coming.length + 1), 1)
    const outcome = await attempt(request, target.url, options, agents, left, connectMs)
    const pause = coming[0]
    const final = outcome.kind === 'response' || outcome.sent || outcome.phase === 'blocked'
    if (final || pause === undefined || pause >= left()) return outcome
    await sleep(pause, undefined, { signal: request.signal }).catch(() => {})
  }
}

const attempt = async (
  request: OutgoingRequest,
  url: URL,
  options: OutgoingHttpOptions,
  agents: Agents,
  left: () => number,
  connectMs: number,
): Promise<Outcome> => {
  const began = left()
  const found = await addressesOf(url, options, connectMs)
  if ('kind' in found) return found
  if (!found.ok) return failure('blocked', 'resolving', found.reason)

  const secure = url.protocol === 'https:'
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
  const once = (reuse: boolean) => {
    const x: Exchange = {
      url,
      addresses: found.addresses,
      agent: agents.pick(secure, reuse),
      method: request.method,
      headers: outgoingHeaders(request.headers ?? {}, request.method, body),
      body,
      maxResponseBytes: request.maxResponseBytes,
      decisiveStatus: request.decisiveStatus,
      connectMs: Math.max(connectMs - (began - left()), 1),
      totalMs: Math.max(left(), 1),
      signal: request.signal,
    }
    return exchange(x)
  }
  if (request.signal?.aborted) return dropped('resolving')
  const { outcome, reused } = await once(request.repeatable ?? false)
  // A kept-alive connection that closed under the request says nothing about the receiver. The request gets a new
  // connection.
  const closedUnder = reused && outcome.kind === 'failure' && outcome.phase === 'reset' && outcome.status === undefined
  return closedUnder ? (await once(false)).outcome : outcome
}

const addressesOf = async (url: URL, options: OutgoingHttpOptions, withinMs: number): Promise<Addresses | Outcome> => {
  const host = hostOf(url)
  // The address check already covered a literal. `lookup` isn't called for it.
  if (isIP(host)) return { ok: true, addresses: [host] }
  const late = new AbortController()
  const limit = startTimeLimit(withinMs, () => late.abort())
  const aborted = new Promise<Outcome>((settle) => {
    late.signal.addEventListener('abort', () => settle(timedOut('resolving')), { once: true })
  })
  const loopback = options.allowLoopbackHttp && isLoopbackHost(host)
  try {
    return await Promise.race([aborted, resolvePublicAddresses(host, loopback, options.resolve, late.signal)])
  } catch (error) {
    return failureFrom(error, 'resolving')
  } finally {
    limit.clear()
  }
}

/** Returns the first pauses that fit into the time together. */
const fitting = (pauses: readonly number[], ms: number): readonly number[] => {
  const tooMany = pauses.findIndex((_, i) => sum(pauses.slice(0, i + 1)) >= ms)
  return tooMany < 0 ? pauses : pauses.slice(0, tooMany)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
