import { SECOND } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
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

/** Credentials, and headers that speak for somebody else or mark the platform's own signed calls (decisions §4). */
const FORBIDDEN =
  /^(authorization|cookie2?|host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|forwarded|via|x-real-ip|webhook-(id|signature|timestamp)|(proxy|x-forwarded|x-svc)-.*)$/i

/**
 * Refuses at invoke what could never be sent.
 * @throws `blocked_target` for a forbidden address, `validation_error` for a forbidden header
 */
export const checkHttpFetch = ({ http }: Pick<Deps, 'http'>, { url, headers = {} }: HttpFetch): void => {
  const reason = http.checkAddress(url)
  if (reason !== undefined) throw fail('blocked_target', { message: reason, details: { reason } })
  const forbidden = Object.keys(headers).filter((name) => FORBIDDEN.test(name.trim()))
  if (forbidden.length === 0) return
  throw fail('validation_error', {
    message: 'The tool’s arguments have headers that an agent may not set.',
    details: {
      fields: Object.fromEntries(
        forbidden.map((name) => [`arguments.headers.${name}`, ['may not be set by an agent']]),
      ),
    },
  })
}

/**
 * Sends an approved request. What goes wrong on the way is part of the result: the call itself was executed
 * (decisions §4). A redirect to another origin is not followed; the result holds the 3xx and its `location`.
 */
export const httpFetch = async (
  { http }: Pick<Deps, 'http'>,
  { url, method, headers, body }: HttpFetch,
): Promise<Record<string, unknown>> => {
  const result = await fetchFollowingOrigin(http, {
    method,
    url,
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
    deadlineMs: DEADLINE,
    maxResponseBytes: ANSWER_BYTES,
  })
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
