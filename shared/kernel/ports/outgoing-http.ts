/** HTTP request to an address chosen by a customer, a developer or an agent. */
export interface OutgoingRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  url: string
  /** Names in any case. The client sets host, length and framing headers itself and refuses them here. */
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Milliseconds for the whole request: name lookup, all attempts and the last byte of the response. */
  deadlineMs: number
  /** Bytes of the response to read, counted after decompression. */
  maxResponseBytes: number
  /**
   * True if the receiver may get this request twice. It then uses a kept-alive connection and is repeated once if that
   * connection was closed. By default a request gets its own connection, so that a connection that died unnoticed
   * can't leave its outcome unknown.
   */
  repeatable?: boolean
  /**
   * Status that settles the outcome. Such a response is returned as soon as its headers arrive, without a body.
   * The receiver may still finish the body within the deadline and `maxResponseBytes`.
   */
  decisiveStatus?: number
  /** Pauses in ms before each retry of a connection that was never established. One retry per pause. */
  connectRetryPausesMs?: number[]
  /** Abort it to drop the request. The outcome is then the failure `dropped`. */
  signal?: AbortSignal | undefined
}

/** Response with any status. */
export interface OutgoingResponse {
  kind: 'response'
  status: number
  /** Names in lower case. Repeated headers are joined with `, `. */
  headers: Record<string, string>
  /** Decompressed. */
  body: Uint8Array
  /** True if the response exceeded `maxResponseBytes`. The rest was not read. */
  truncated: boolean
  /** Set if the body's `content-encoding` could not be decoded. `body` holds the part that could be read. */
  decodeError?: string
  /** Likely cause and fix of a response outside 2xx, worded for the operator of the receiving server. */
  hint?: string
  durationMs: number
}

/** Failure to get a complete response. */
export interface OutgoingFailure {
  kind: 'failure'
  /**
   * - `blocked`: the target or a header is forbidden
   * - `dns`: the name could not be resolved
   * - `connect`: no connection could be established
   * - `tls`: the connection could not be trusted
   * - `timeout`: the deadline passed, at any point
   * - `reset`: the connection closed before the end of the response
   * - `too_large`: the headers exceeded 16 KiB
   * - `decode`: the response is not HTTP
   * - `dropped`: `signal` was aborted
   */
  phase: 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'too_large' | 'decode' | 'dropped'
  /** True if the receiver may have seen the request. False only if no byte of it can have arrived. */
  sent: boolean
  /** Status, if headers arrived before the failure. */
  status?: number
  /** Code of the system or library, for logs: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, … */
  code?: string
  /** Description for people. Never contains an address that a name resolved to. */
  message: string
  /** Likely cause and fix. */
  hint: string
  durationMs: number
}

export type OutgoingResult = OutgoingResponse | OutgoingFailure

export interface OutgoingHttp {
  /** Sends one request. Never follows a redirect and never throws for a remote failure. */
  send(request: OutgoingRequest): Promise<OutgoingResult>
  /** Returns the reason why an address is forbidden, or undefined. Checks only the text and resolves no name. */
  checkAddress(url: string): string | undefined
}

/** Verdict on the text of an address (contract/outgoing-requests.md#forbidden-targets). */
export type TargetVerdict = { ok: true; url: URL } | { ok: false; reason: string }
