import type { PlatformError } from '../kernel/errors.ts'

/** A response other than JSON with the declared status: a redirect, a page, a file. */
export class RawResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  constructor(status: number, headers: Record<string, string>, body: string | Uint8Array = '') {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** A response that a streaming function sends piece by piece. */
export class StreamResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly pieces: (signal: AbortSignal) => AsyncIterable<string>
  /** @param pieces the body from its start; ends without an error soon after `signal` */
  constructor(status: number, headers: Record<string, string>, pieces: (signal: AbortSignal) => AsyncIterable<string>) {
    this.status = status
    this.headers = headers
    this.pieces = pieces
  }
}

/** Returns a 302 to another address. */
export const redirect = (location: string): RawResponse =>
  new RawResponse(302, { location, 'cache-control': 'no-store' })

/** Returns a public document as JSON: readable from any origin, and cacheable, because it rarely changes. */
export const publicDocument = (value: object): RawResponse =>
  new RawResponse(
    200,
    {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    },
    JSON.stringify(value),
  )

/** Builds the platform's error body (contract/errors.md#error-body). */
export const errorBody = (error: PlatformError, requestId: string, docsUrl: string) => ({
  error: {
    code: error.code,
    message: error.message,
    fix: error.fix,
    docs_url: `${docsUrl}#${error.code}`,
    request_id: requestId,
    details: error.details,
  },
})

/**
 * Builds a Bearer challenge with the error code where standard clients look for it (RFC 6750 §3,
 * contract/oauth-and-tokens.md#errors-for-standard-clients). Values are ASCII without quotes or backslashes.
 */
export const challenge = (parts: Record<string, string>): string =>
  `Bearer ${Object.entries(parts)
    .map(([name, value]) => `${name}="${value.replaceAll(/[^\x20-\x7e]|["\\]/g, '')}"`)
    .join(', ')}`
