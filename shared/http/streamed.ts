import type { APIGatewayProxyResult, Context } from 'aws-lambda'
import { ANSWER_BYTES } from '../domain/answer-size.ts'
import { closeStream, isOpen, openStream } from '../domain/limits/streams.ts'
import { SECOND } from '../kernel/clock.ts'
import type { StreamAnswer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { RequestHandler } from './pipeline.ts'
import { toPlatformError, toResult } from './render.ts'
import { record } from './request-log.ts'
import { callerName } from './work.ts'

/** A result whose body is still to come. */
export interface StreamedResult extends APIGatewayProxyResult {
  /** The body; asked for once. It ends by itself, or soon after `signal`. */
  pieces(signal: AbortSignal): AsyncGenerator<string>
}

export const isStreamed = (result: APIGatewayProxyResult): result is StreamedResult => 'pieces' in result

/**
 * The result of a stream. It lasts as long as its caller may have it: who called is looked up again every few seconds, so
 * that a token that was revoked or a member who was removed sees no more. The request is logged at its end.
 * @throws `rate_limited`
 */
export const streamed = async (
  exchange: Exchange,
  { status, headers, pieces }: StreamAnswer,
): Promise<StreamedResult> => {
  const { deps, requestId } = exchange
  const caller = callerName(exchange.caller)
  if (caller !== undefined) await openStream(deps, caller, requestId)
  return {
    ...toResult(exchange, { status, headers, body: '' }),
    async *pieces(signal) {
      const over = new AbortController()
      const watch = watchCaller(exchange, () => over.abort())
      try {
        yield* pieces(AbortSignal.any([signal, over.signal]))
      } catch (error) {
        // The status has gone out; the connection's end is all that can be said, and whoever listens connects again.
        failed(exchange, error)
      } finally {
        watch.end()
        if (caller !== undefined) await closeStream(deps, caller, requestId).catch((error) => failed(exchange, error))
        record(exchange, status)
      }
    },
  }
}

const failed = (exchange: Exchange, error: unknown): void => {
  const failure = toPlatformError(error)
  exchange.errorCode = failure.code
  exchange.deps.log.error('stream failed', { request_id: exchange.requestId, error: failure.cause ?? failure })
}

/** How soon a caller who lost their standing loses the stream, too. */
const RECHECK = 10 * SECOND

/** Looks again and again whether the caller still stands, and at the latest when their credential ends by itself. */
const watchCaller = (exchange: Exchange, lost: () => void): { end(): void } => {
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
      const [stands] = await Promise.all([isOpen(deps, caller, requestId), recheck()])
      if (!stands) return lost()
    } catch (error) {
      // Trouble of ours says nothing about the caller; the next look may.
      if (toPlatformError(error).status < 500) return lost()
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

/** When the caller's credential ends, in epoch ms. */
const endOf = ({ caller }: Exchange): number => {
  if (caller.kind === 'integration') return caller.token.expiresAt * SECOND
  return caller.kind === 'console' ? caller.session.expires_at : Number.POSITIVE_INFINITY
}

/** How long a stream is collected where answers cannot be streamed. */
const COLLECT = 5 * SECOND

/**
 * A handler whose streams are answers of one piece, for where nothing is streamed (emulators, tests): what comes within
 * the time and fits. Whoever asks again from where that ended misses nothing.
 */
export const buffered =
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
    // The first two go out whatever their size: without progress, asking again would never end.
    if (bytes > ANSWER_BYTES && taken >= 2) break
    body += piece
    taken++
  }
  return body
}
