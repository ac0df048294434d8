import type { Deps } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { fetchFollowingOrigin } from './follow.ts'

export interface HttpFetch {
  url: string
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string> | undefined
  body?: string | undefined
}

/** One deadline for the whole fetch, redirects included. */
const DEADLINE = 20 * SECOND
const ANSWER_BYTES = 256 * 1_024

/**
 * Credentials, headers that claim another identity, and headers of the platform's own signed calls
 * (contract/tools.md#fetching-an-address).
 */
const FORBIDDEN =
  /^(authorization|cookie2?|host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|forwarded|via|x-real-ip|webhook-(id|signature|timestamp)|(proxy|x-forwarded|x-svc)-.*)$/

/** Printable ASCII without the characters that URL parsers read differently from people: space and backslash. */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]+$/

/**
 * Requires an address that reads as it is resolved. `https://api.stripe.com⁄v1⁄charges.evil.com` has one host, but looks
 * like a path at another one.
 * @throws `validation_error`
 */
const requireAscii = (url: string): void => {
  if (PLAIN.test(url)) return
  const ascii = URL.canParse(url) ? new URL(url).href : undefined
  throw fail('validation_error', {
    message: 'The address has characters other than printable ASCII, so people could misread it.',
    fix:
      ascii === undefined
        ? 'Write the host in Punycode (xn--…), and percent-encode the path and the query.'
        : `If this is the address you mean, send it in ASCII: ${ascii}`,
    details: { fields: { 'arguments.url': ['must be printable ASCII without spaces and backslashes'] } },
  })
}

/**
 * Rejects invalid requests before approval is requested.
 * @throws `blocked_target` for a forbidden address, `validation_error` for an ambiguous one, for a forbidden header, and for
 *   one in several spellings: people see all of them, and one is sent
 */
export const requireFetchable = ({ http }: Pick<Deps, 'http'>, { url, headers = {} }: HttpFetch): void => {
  requireAscii(url)
  const reason = http.checkAddress(url)
  if (reason !== undefined) throw fail('blocked_target', { message: reason, details: { reason } })
  const names = Object.keys(headers)
  refuseHeaders(
    names.filter((name) => FORBIDDEN.test(asServersRead(name))),
    'headers that agents may not set',
    'may not be set by an agent',
  )
  const read = names.map(asServersRead)
  refuseHeaders(
    names.filter((name) => read.filter((other) => other === asServersRead(name)).length > 1),
    'several headers that servers read as one',
    'is there in another spelling as well',
  )
}

/** Returns a header's name as servers read it: in any case, and many of them with an underscore for a hyphen. */
const asServersRead = (name: string): string => name.trim().toLowerCase().replaceAll('_', '-')

const refuseHeaders = (names: readonly string[], what: string, problem: string): void => {
  if (names.length === 0) return
  throw fail('validation_error', {
    message: `The arguments contain ${what}: ${names.join(', ')}.`,
    details: { fields: Object.fromEntries(names.map((name) => [`arguments.headers.${name}`, [problem]])) },
  })
}

/**
 * Sends an approved request. Network failures are part of the result, because the call itself was executed
 * (contract/tools.md#fetching-an-address). Redirects to another origin aren't followed: the result holds the 3xx and
 * its `location`.
 */
export const httpFetch = async (
  { http }: Pick<Deps, 'http'>,
  { url, method, headers, body }: HttpFetch,
  { maxRedirects }: { maxRedirects?: number } = {},
): Promise<Record<string, unknown>> => {
  const request = {
    method,
    url,
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
    deadlineMs: DEADLINE,
    maxResponseBytes: ANSWER_BYTES,
  }
  const result = await fetchFollowingOrigin(http, request, maxRedirects)
  if (result.kind === 'failure') {
    return { error: result.phase, message: result.message, duration_ms: result.durationMs, url: result.url }
  }
  return {
    status: result.status,
    url: result.url,
    headers: result.headers,
    ...(result.headers.location !== undefined && { location: result.headers.location }),
    body: new TextDecoder().decode(result.body),
    truncated: result.truncated,
    duration_ms: result.durationMs,
  }
}
