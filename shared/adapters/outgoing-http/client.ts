import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutgoingHttp, OutgoingRequest, OutgoingResult } from '#shared/domain/ports.ts'
import { type Agents, createAgents } from './agents.ts'
import { type Exchange, exchange, type Outcome } from './exchange.ts'
import { failed, failure, timedOut } from './failures.ts'
import { outgoingHeaders, refusedHeaders } from './headers.ts'
import { type Addresses, checkedAddresses, type Resolve } from './resolve.ts'
import { checkUrl, hostOf, isLoopbackHost, type TargetPolicy } from './targets.ts'

export interface OutgoingHttpOptions extends TargetPolicy {
  /** Stands in for DNS. What it answers is checked all the same. */
  resolve?: Resolve
  /** Certificates in PEM to trust beside the system's. */
  ca?: string
}

/**
 * The one way out of the platform to addresses that others chose (decisions §6, forbidden targets): each request's target
 * is checked, its name resolved once, every answer checked, and the socket connected to a checked address.
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
  const refusal = METHODS.has(request.method) ? refusedHeaders(request.headers ?? {}) : 'The method is not allowed.'
  if (refusal) return failure('blocked', 'resolving', refusal)

  const pauses = request.connectRetryPausesMs ?? []
  for (let tried = 0; ; tried++) {
    const coming = pauses.slice(tried)
    // Each try may take an equal share of the time to connect, so that a host that swallows packets doesn't use it all.
    const connectMs = (left() - sum(coming)) / (coming.length + 1)
    const outcome = await attempt(request, target.url, options, agents, left, Math.max(connectMs, 1))
    const pause = coming[0]
    const final = outcome.kind === 'response' || outcome.sent || outcome.phase === 'blocked'
    if (final || pause === undefined || pause >= left()) return outcome
    await sleep(pause)
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
    }
    return exchange(x)
  }
  const { outcome, reused } = await once(request.repeatable ?? false)
  // A kept connection that closed under the request says nothing about the receiver: it gets a connection of its own.
  const closedUnder = reused && outcome.kind === 'failure' && outcome.phase === 'reset' && outcome.status === undefined
  return closedUnder ? (await once(false)).outcome : outcome
}

const addressesOf = async (url: URL, options: OutgoingHttpOptions, withinMs: number): Promise<Addresses | Outcome> => {
  const host = hostOf(url)
  // A literal was checked with the address's text; `lookup` is not called for it.
  if (isIP(host)) return { ok: true, addresses: [host] }
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), withinMs)
  const aborted = new Promise<Outcome>((settle) => {
    late.signal.addEventListener('abort', () => settle(timedOut('resolving')), { once: true })
  })
  const loopback = options.allowLoopbackHttp && isLoopbackHost(host)
  try {
    return await Promise.race([aborted, checkedAddresses(host, loopback, options.resolve, late.signal)])
  } catch (error) {
    return failed(error, 'resolving')
  } finally {
    clearTimeout(timer)
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)
