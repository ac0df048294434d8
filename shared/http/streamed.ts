import type { APIGatewayProxyResult, Context } from 'aws-lambda'
import { closeStream, isStreamOpen, openStream, rateLimited } from '#shared/foundation/limits/index.ts'
import { RESPONSE_BYTES } from '#shared/foundation/payloads/index.ts'
import { SECOND } from '../kernel/clock.ts'
import type { PlatformError } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'
import { callerName } from './callers.ts'
import type { Exchange, RequestHandler } from './exchange.ts'
import { toPlatformError, toResult } from './render.ts'
import { logRequest } from './request-log.ts'
import type { StreamResponse } from './response.ts'

/** A result whose body is sent later. */
export interface StreamedResult extends APIGatewayProxyResult {
  /** Returns the body. Call it once. It ends by itself, or soon after `signal`. */
  pieces(signal: AbortSignal): AsyncGenerator<string>
}

export const isStreamed = (result: APIGatewayProxyResult): result is StreamedResult => 'pieces' in result

/**
 * Builds the result of a stream. A HEAD opens none. The caller is looked up again every few seconds, so that a revoked token or a removed
 * member sees no more. The request is logged when the stream ends.
 * @throws `rate_limited`
 */
export const streamResult = async (
  exchange: Exchange,
  { status, headers, pieces }: StreamResponse,
): Promise<APIGatewayProxyResult> => {
  const { deps, requestId } = exchange
  const head = toResult(exchange, { status, headers, body: '' })
  if (exchange.isHead) {
    logRequest(exchange, status)
    return head
  }
  const caller = callerName(exchange.caller)
  if (caller !== undefined) await openStream(deps, caller, requestId)
  const streamed: StreamedResult = {
    ...head,
    async *pieces(signal) {
      const over = new AbortController()
      const watch = watchCaller(exchange, (reason) => over.abort(reason))
      try {
        yield* pieces(AbortSignal.any([signal, over.signal]))
      } catch (error) {
        // The status is already sent, so the only signal left is to close the connection. Clients reconnect.
        failed(exchange, error)
      } finally {
        watch.end()
        if (caller !== undefined) await closeStream(deps, caller, requestId).catch((error) => failed(exchange, error))
        logRequest(exchange, status)
      }
    },
  }
  return streamed
}

const failed = (exchange: Exchange, error: unknown): void => {
  const failure = toPlatformError(error)
  exchange.errorCode = failure.code
  exchange.deps.log.error('stream failed', { request_id: exchange.requestId, error: failure.cause ?? failure })
}

/** Interval of checking that the caller still has access. */
const RECHECK = 10 * SECOND

/**
 * Checks repeatedly that the caller still has access, and once more when their credential expires.
 * @param lost ends the stream for a lasting reason
 */
const watchCaller = (exchange: Exchange, lost: (reason: PlatformError) => void): { end(): void } => {
  const { recheck, deps, requestId } = exchange
  const caller = callerName(exchange.caller)
  if (!recheck || caller === undefined) return { end: () => {} }
  let timer: NodeJS.Timeout | undefined
  let ended = false
  const wait = (): void => {
    const left = endOf(exchange) - deps.clock.now()
    timer = setTimeout(look, Math.min(RECHECK, Math.max(SECOND, left)))
  }
  const look = async (): Promise<void> => {
    try {
      const [stands] = await Promise.all([isStreamOpen(deps, caller, requestId), recheck()])
      if (!stands) return lost(oneTooMany())
    } catch (error) {
      const reason = toPlatformError(error)
      // A platform error says nothing about the caller. The next check may.
      if (reason.status < 500) return lost(reason)
    }
    if (!ended) wait()
  }
  wait()
  return {
    end() {
      ended = true
      clearTimeout(timer)
    },
  }
}

const oneTooMany = () =>
  rateLimited('stream', 1, {
    message: `You opened another stream. You can have ${LIMITS.streamsPerCaller} at a time.`,
    fix: 'Wait until one of your streams has ended.',
  })

/** Returns the expiry of the caller's credential in epoch ms. */
const endOf = ({ caller }: Exchange): number => {
  if (caller.kind === 'integration') return caller.token.expiresAt * SECOND
  if (caller.kind === 'person') return caller.expiresAt * SECOND
  return caller.kind === 'console' ? caller.session.expires_at : Number.POSITIVE_INFINITY
}

/** Time for which a stream is collected if responses can't be streamed. */
const COLLECT = 5 * SECOND

/**
 * Wraps a handler whose streams must be sent in one piece (emulators, tests). It collects the events that arrive within
 * the time limit and fit into a response. Clients that resume from the last event miss nothing.
 */
export const bufferStreams =
  (handle: RequestHandler, forMs = COLLECT): RequestHandler =>
  async (event, context: Context) => {
    const result = await handle(event, context)
    return isStreamed(result) ? { ...result, body: await collect(result, AbortSignal.timeout(forMs)) } : result
  }

const collect = async ({ pieces }: StreamedResult, signal: AbortSignal): Promise<string> => {
  let body = ''
  let bytes = 0
  let taken = 0
  for await (const piece of pieces(signal)) {
    bytes += Buffer.byteLength(piece)
    // The first two are sent whatever their size. Without progress, clients would reconnect forever.
    if (bytes > RESPONSE_BYTES && taken >= 2) break
    body += piece
    taken++
  }
  return body
}
