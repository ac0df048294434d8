import type { PlatformError } from '../kernel/errors.ts'

/** An answer other than JSON with the declared status: a redirect, a page, a file. */
export class RawAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  constructor(status: number, headers: Record<string, string>, body: string | Uint8Array = '') {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** An answer that is sent as it comes about, by a function that streams. */
export class StreamAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly pieces: (signal: AbortSignal) => AsyncIterable<string>
  /** @param pieces the body from its start; ends soon after `signal`, without an error */
  constructor(status: number, headers: Record<string, string>, pieces: (signal: AbortSignal) => AsyncIterable<string>) {
    this.status = status
    this.headers = headers
    this.pieces = pieces
  }
}

/** A 302 to another address. */
export const redirect = (location: string): RawAnswer => new RawAnswer(302, { location, 'cache-control': 'no-store' })

/** The platform's error body (specification "Errors"). */
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
 * Bearer challenge with the code where standard clients look for it (RFC 6750 §3, decisions §2): ASCII only, without
 * quotes or backslashes inside.
 */
export const challenge = (parts: Record<string, string>): string =>
  `Bearer ${Object.entries(parts)
    .map(([name, value]) => `${name}="${value.replaceAll(/[^\x20-\x7e]|["\\]/g, '')}"`)
    .join(', ')}`
